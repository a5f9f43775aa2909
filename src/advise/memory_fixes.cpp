#include "advise/memory_fixes.h"

#include <algorithm>

#include "analysis/memory_summary.h"
#include "memory/leaked_blocks.h"
#include "memory/simulator/simulation.h"

namespace telltale {
namespace {

// As many as the code that rules propose makes: chunk(8).
constexpr double kPieces = 8;

// What a leaking line left behind goes with the step that made it.
MemoryEdit without_leaks(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const LeakedBlocks leaked(facts.trace, device.peak.device, facts.diagnosis.memory_causes->leaks, device.step_ends);
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (const auto since = leaked.since(block)) edit.send_away(block, {*since});
  return edit;
}

// What comes in pieces makes pieces of what is computed from it: all that the steps make in that size, and what the
// rule looked at, whatever it is for.
MemoryEdit in_pieces(const Facts& facts, const MemorySummary& memory, std::span<const UsedBlock> blocks) {
  StepTiming whole = facts.diagnosis.timing;
  whole.steps = all_steps(whole);
  const auto goes_with_its_step = [&](const UsedBlock& block) {
    const int step = step_at(whole, block.allocated);
    return step >= 0 && step == step_at(whole, block.freed);
  };
  MemoryEdit edit;
  for (const UsedBlock& block : blocks) {
    if (block.bytes != memory.largest_allocation) continue;
    const bool is_made_in_step = block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries;
    if (is_made_in_step || goes_with_its_step(block)) edit.scale(block, 1 / kPieces);
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
  if (finding.rule == "memory_leak") return without_leaks(facts, device, blocks);
  if (!memory || memory->device != device.peak.device) return {};
  if (finding.rule == "memory_spike") return in_pieces(facts, *memory, blocks);
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
