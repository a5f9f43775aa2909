#include "formats/collapsed/stack_tree.h"

#include <algorithm>

namespace telltale::collapsed {

StackNode StackTree::inside(StackNode outer, StringId name) {
  const StackNode node = frames_.intern({outer, name});
  if (node == depth_.size()) depth_.push_back(outer == kNoNode ? 1 : depth_[outer] + 1);
  return node;
}

void StackTree::add_time(Stack stack, Nanoseconds time) {
  const std::uint32_t line = lines_.intern(stack);
  if (line == time_.size()) time_.push_back(0);
  time_[line] += time;
}

StackTree::Stacks StackTree::cut_at(std::uint32_t depth) const {
  std::vector<StackNode> shown(frames_.size());
  for (StackNode node = 0; node < frames_.size(); ++node)
    shown[node] = depth_[node] <= depth ? node : frames_[node].outer == kNoNode ? kNoNode : shown[frames_[node].outer];

  Stacks cut;
  InternedValues<Stack> kept;
  for (std::uint32_t line = 0; line < lines_.size(); ++line) {
    if (time_[line] == 0) continue;
    Stack stack = lines_[line];
    if (stack.innermost != kNoNode && shown[stack.innermost] != stack.innermost) {
      stack.innermost = shown[stack.innermost];
      ++cut.shortened;
    }
    const std::uint32_t at = kept.intern(stack);
    if (at == cut.stacks.size()) cut.stacks.push_back({stack, 0});
    cut.stacks[at].time += time_[line];
  }
  return cut;
}

StackTree::Stacks StackTree::stacks(std::uint64_t most_text, const TextSizes& sizes) const {
  std::vector<std::uint64_t> text(frames_.size());  // of a node and all around it, with a separator each
  for (StackNode node = 0; node < frames_.size(); ++node) {
    const StackNode outer = frames_[node].outer;
    text[node] = sizes.of_call(frames_[node].name) + 1 + (outer == kNoNode ? 0 : text[outer]);
  }
  const auto fits = [&](const Stacks& all) {
    std::uint64_t sum = 0;
    for (const TimedStack& each : all.stacks) {
      const StackNode innermost = each.stack.innermost;
      sum += sizes.of_track(each.stack.track) + (innermost == kNoNode ? 0 : text[innermost]);
      if (sum > most_text) return false;
    }
    return true;
  };
  std::uint32_t too_deep = depth_.empty() ? 0 : std::ranges::max(depth_);
  Stacks best = cut_at(too_deep);
  if (fits(best)) return best;
  // The deepest that fits. Deeper stacks are more stacks, and longer ones.
  std::uint32_t depth = 0;
  best = cut_at(depth);
  while (depth + 1 < too_deep) {
    const std::uint32_t middle = depth + (too_deep - depth) / 2;
    Stacks cut = cut_at(middle);
    if (fits(cut)) {
      depth = middle;
      best = std::move(cut);
    } else {
      too_deep = middle;
    }
  }
  return best;
}

}  // namespace telltale::collapsed
