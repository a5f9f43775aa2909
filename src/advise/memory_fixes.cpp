#include "advise/memory_fixes.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/memory_summary.h"
#include "memory/simulator/simulation.h"

namespace telltale {
namespace {

// As many as the code that rules propose makes: chunk(8).
constexpr double kPieces = 8;

using Place = std::tuple<std::string, int>;

// What a leaking line left behind goes with the step that made it.
MemoryEdit without_leaks(const Facts& facts, DeviceId device, std::span<const UsedBlock> blocks) {
  std::set<Place> leaking;
  for (const MemoryLeak& leak : facts.diagnosis.memory_causes->leaks)
    if (leak.device == device && leak.source) leaking.emplace(leak.source->file, leak.source->line);
  MemoryEdit edit;
  if (leaking.empty()) return edit;
  std::vector<Nanoseconds> ends;
  for (const StepSpan& step : all_steps(facts.diagnosis.timing)) ends.push_back(step.host.end);
  for (const UsedBlock& block : blocks) {
    // What is freed behind the last step goes because the program ends.
    if (ends.empty() || block.freed <= ends.back() || block.allocated == UsedBlock::kBeforeTheTrace) continue;
    const auto end = std::ranges::lower_bound(ends, block.allocated);
    if (end == ends.end()) continue;
    const std::optional<SourceLine> source = line_of(facts.trace, block);
    if (source && leaking.contains(Place(source->file, source->line))) edit.send_away(block, {*end});
  }
  return edit;
}

// What comes in pieces makes pieces of what is computed from it: all that the steps make in that size.
MemoryEdit in_pieces(const MemorySummary& memory, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks) {
    const bool is_made_in_step = block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries;
    if (is_made_in_step && block.bytes == memory.largest_allocation) edit.scale(block, 1 / kPieces);
  }
  return edit;
}

std::int64_t reserved_less_by(const Trace& trace, DeviceId device, const MemoryEdit& edit) {
  const AllocatorRequests requests = allocator_requests(trace, device);
  if (!check_simulation(trace, requests).holds()) return 0;
  const AllocatorSettings& recorded = requests.start.settings();
  const Result<AllocatorSettings> changed = parse_allocator_settings(edit.settings, recorded);
  if (!changed) return 0;
  SimulationOptions options{.settings = recorded};
  options.makes_room_as_recorded = true;  // where the device was full, the cache cost nothing
  const std::int64_t now = simulate(requests, options).peak.reserved;
  options.settings = *changed;
  options.empties_cache = !edit.keeps_cache;
  return std::max<std::int64_t>(0, now - simulate(requests, options).peak.reserved);
}

}  // namespace

MemoryEdit edit_for(const Facts& facts, const DeviceCauses& device, const Finding& finding,
                    std::span<const UsedBlock> blocks) {
  const std::optional<MemorySummary>& memory = facts.diagnosis.memory;
  if (finding.rule == "memory_leak") return without_leaks(facts, device.peak.device, blocks);
  if (!memory || memory->device != device.peak.device) return {};
  if (finding.rule == "memory_spike") return in_pieces(*memory, blocks);
  if (finding.fix.id == "keep_cache") return {.blocks = {}, .settings = {}, .keeps_cache = true};
  if (finding.fix.id == "expandable_segments" || finding.fix.id == "stable_shapes")
    return {.blocks = {}, .settings = "expandable_segments:True"};
  return {};
}

std::int64_t bytes_saved_by(const Facts& facts, const DeviceCauses& device, const MemoryEdit& edit,
                            std::span<const UsedBlock> blocks) {
  if (!edit.blocks.empty())
    return std::max<std::int64_t>(0, edited_peak(blocks, {}).allocated - edited_peak(blocks, edit).allocated);
  return edit.is_empty() || !device.fragmentation ? 0 : reserved_less_by(facts.trace, device.peak.device, edit);
}

}  // namespace telltale
