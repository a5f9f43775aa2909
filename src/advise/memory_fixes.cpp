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
    if (block.freed != UsedBlock::kNever || block.allocated == UsedBlock::kBeforeTheTrace) continue;
    const auto end = std::ranges::lower_bound(ends, block.allocated);
    if (end == ends.end()) continue;
    const std::optional<SourceLine> source = line_of(facts.trace, block);
    if (source && leaking.contains(Place(source->file, source->line))) edit.send_away(block, {*end});
  }
  return edit;
}

MemoryEdit in_pieces(const Facts& facts, std::span<const UsedBlock> blocks) {
  const MemorySummary& memory = *facts.diagnosis.memory;
  const StringId name = memory.largest_event == kNoEvent ? kEmptyString : facts.trace.events.name[memory.largest_event];
  MemoryEdit edit;
  for (const UsedBlock& block : blocks) {
    if (block.bytes != memory.largest_allocation || block.event == kNoEvent) continue;
    if (facts.trace.events.name[maker_of(facts.trace, block.event)] == name) edit.scale(block, 1 / kPieces);
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
  if (finding.rule == "memory_spike") return in_pieces(facts, blocks);
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
