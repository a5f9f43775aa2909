#include "memory/leaked_blocks.h"

#include <algorithm>

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
    block.is_left_behind = left && *left < time;
  }
}

}  // namespace telltale
