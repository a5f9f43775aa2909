#include "memory/leaked_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "memory/inferred_steps.h"
#include "memory/memory_peak.h"

namespace telltale {

LeakedBlocks::LeakedBlocks(const Trace& trace, DeviceId device, std::span<const MemoryLeak> leaks,
                           std::span<const Nanoseconds> step_ends)
    : trace_(trace), step_ends_(step_ends) {
  for (const MemoryLeak& leak : leaks)
    if (leak.device == device && leak.source) lines_.emplace(leak.source->file, leak.source->line);
}

std::optional<Nanoseconds> LeakedBlocks::since(const UsedBlock& block) const {
  if (lines_.empty() || step_ends_.empty() || block.allocated == UsedBlock::kBeforeTheTrace) return {};
  // What is freed behind the last step goes because the program ends.
  if (block.freed <= step_ends_.back()) return {};
  const auto end = std::ranges::lower_bound(step_ends_, block.allocated);
  if (end == step_ends_.end()) return {};
  const std::optional<SourceLine> source = line_of(trace_, block);
  if (!source || !lines_.contains({source->file, source->line})) return {};
  return *end;
}

void LeakedBlocks::mark(std::span<UsedBlock> blocks, Nanoseconds time) const {
  for (UsedBlock& block : blocks) {
    const std::optional<Nanoseconds> left = since(block);
    block.left_behind = left.value_or(UsedBlock::kNever);
    block.is_left_behind = block.left_behind < time;
  }
}

void mark_left_behind(const Trace& trace, const DeviceMemory& device, std::span<UsedBlock> blocks) {
  StepTiming steps = step_timing(trace);
  if (steps.source == StepSource::kWhole)
    if (std::optional<StepTiming> inferred = inferred_steps(trace, device.device)) steps = std::move(*inferred);
  const auto leaks = memory_leaks(trace, device.device, blocks, steps, device.peak.allocated);
  const std::vector<Nanoseconds> ends = step_ends_for_leaks(trace, steps);
  LeakedBlocks(trace, device.device, leaks, ends).mark(blocks, device.peak.time);
}

}  // namespace telltale
