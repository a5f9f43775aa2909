#include "memory/constants_of_forward.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/memory_summary.h"

namespace telltale {
namespace {

constexpr Nanoseconds kNever = UsedBlock::kNever;

Nanoseconds next(std::span<const Nanoseconds> starts, Nanoseconds time) {
  if (time == kNever) return kNever;
  const auto found = std::ranges::upper_bound(starts, time);
  return found == starts.end() ? kNever : *found;
}

}  // namespace

std::vector<std::size_t> constants_of_forward(const Trace& trace, std::span<const MadeBlock> blocks,
                                              std::span<const Nanoseconds> forward,
                                              std::span<const Nanoseconds> backward) {
  if (forward.empty() || backward.empty()) return {};
  const Nanoseconds last = std::max(forward.back(), backward.back());
  struct Alike {
    std::set<Nanoseconds> passes;  // by the start of the backward pass behind each
    std::vector<std::size_t> blocks;
  };
  std::map<std::tuple<StringId, StringId, std::int64_t>, Alike> found;  // by operator, stack and size
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const UsedBlock& block = blocks[i].block;
    const bool is_kept = block.use == MemoryUse::kActivations && !block.is_noted && block.freed > last;
    if (!is_kept || blocks[i].part != StackPart::kForward) continue;
    const Nanoseconds own = next(backward, block.allocated), second = next(backward, next(forward, own));
    if (next(forward, second) == kNever) continue;  // it may be of one of the last passes
    const EventId maker = maker_of(trace, block.event);
    Alike& alike = found[{maker == kNoEvent ? kEmptyString : trace.events.name[maker], block.call_stack, block.bytes}];
    alike.passes.insert(own);
    alike.blocks.push_back(i);
  }
  std::vector<std::size_t> constants;
  for (const auto& [kind, alike] : found)
    if (alike.passes.size() == 1) constants.insert(constants.end(), alike.blocks.begin(), alike.blocks.end());
  return constants;
}

}  // namespace telltale
