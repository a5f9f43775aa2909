#include "memory/standing_stacks.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/call_stacks.h"

namespace telltale {
namespace {

constexpr int kMostLooks = 1000, kMostCauses = 5;  // as module_around() has them
constexpr int kDeepest = 200;                      // calls that are deeper count in those around them
constexpr std::string_view kModulePrefix = "nn.Module: ";

class Standing {
 public:
  Standing(const Trace& trace, const FlameOptions& options) : trace_(trace), options_(options) {
    // Each step has a name of its own: what they have in common would be parted by it.
    for (const Step& step : trace.steps)
      if (step.event != kNoEvent) step_marks_.insert(step.event);
  }

  void add(const StandingBlocks& device) {
    const std::int32_t root =
        device.device.empty() ? FlameNode::kNoParent : inside(FlameNode::kNoParent, device.device, kNoEvent);
    std::vector<const UsedBlock*> blocks;
    for (const UsedBlock& block : device.blocks) blocks.push_back(&block);
    // As they were made, which is the order of siblings where that is asked for.
    std::ranges::stable_sort(blocks, {}, [](const UsedBlock* block) { return block->allocated; });
    std::int64_t before = device.allocated;
    for (const UsedBlock* const block : blocks) {
      const std::int32_t node = node_of(root, *block);
      if (node == FlameNode::kNoParent) continue;
      nodes_[static_cast<std::size_t>(node)].value += block->bytes;
      before -= block->bytes;
    }
    if (before > 0) nodes_[static_cast<std::size_t>(inside(root, kFromBefore, kNoEvent))].value += before;
  }

  StandingStacks made() {
    return {std::move(names_), finished_flame_tree(std::move(nodes_), options_.order, options_.most_nodes)};
  }

 private:
  // The innermost call of a block; none where it is from before and nothing is known.
  std::int32_t node_of(std::int32_t root, const UsedBlock& block) {
    if (block.event == kNoEvent && block.call_stack == kEmptyString && block.allocated == UsedBlock::kBeforeTheTrace)
      return FlameNode::kNoParent;
    const std::vector<EventId> calls =
        options_.frames == FlameFrames::kModules ? modules_around(block.event) : calls_around(block.event);
    std::int32_t node = root;
    if (options_.frames == FlameFrames::kModules) {
      if (calls.empty()) return inside(root, "outside of modules", kNoEvent);
    } else {
      const bool has_python =
          std::ranges::any_of(calls, [&](EventId call) { return trace_.events.kind[call] == Kind::kPython; });
      if (!has_python) node = frames_inside(node, trace_.strings[block.call_stack]);
      if (calls.empty() && node == root) return inside(root, "outside of calls", kNoEvent);
    }
    for (const EventId call : calls | std::views::reverse) {
      std::string_view name = trace_.name(call);
      if (options_.frames == FlameFrames::kModules && name.starts_with(kModulePrefix))
        name.remove_prefix(kModulePrefix.size());
      node = inside(node, name, call);
    }
    return node;
  }

  // Innermost first.
  std::vector<EventId> calls_around(EventId event) const {
    std::vector<EventId> calls;
    int looks = kMostLooks;
    for (EventId at = event; at != kNoEvent; at = caller_of(trace_, at, looks))
      if (!step_marks_.contains(at)) calls.push_back(at);
    return calls;
  }

  std::vector<EventId> modules_around(EventId event) const {
    std::vector<EventId> modules;
    for (int causes = 0; causes < kMostCauses && event != kNoEvent && modules.empty(); ++causes) {
      EventId cause = kNoEvent;
      int looks = kMostLooks;
      for (EventId at = event; at != kNoEvent && looks > 0; at = trace_.events.parent[at], --looks) {
        if (trace_.events.kind[at] == Kind::kModule) modules.push_back(at);
        if (cause == kNoEvent) cause = trace_.events.cause[at];
      }
      event = cause;
    }
    return modules;
  }

  // The frames of a stack, which are joined by ";" and innermost first.
  std::int32_t frames_inside(std::int32_t node, std::string_view stack) {
    while (!stack.empty()) {
      const std::size_t last = stack.rfind(';');
      const std::string_view frame = last == std::string_view::npos ? stack : stack.substr(last + 1);
      if (!frame.empty()) node = inside(node, frame, kNoEvent);
      stack = last == std::string_view::npos ? std::string_view() : stack.substr(0, last);
    }
    return node;
  }

  std::int32_t inside(std::int32_t parent, std::string_view name, EventId example) {
    const int depth = parent == FlameNode::kNoParent ? 1 : depth_[static_cast<std::size_t>(parent)] + 1;
    if (depth > kDeepest) return parent;
    const auto [number, is_new_name] = numbers_.try_emplace(std::string(name), static_cast<StringId>(names_.size()));
    if (is_new_name) names_.emplace_back(name);
    const std::uint64_t key = std::uint64_t{number->second} << 32 | static_cast<std::uint32_t>(parent + 1);
    const auto [node, is_new] = by_place_.try_emplace(key, static_cast<std::int32_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back({.name = number->second, .parent = parent});
      depth_.push_back(depth);
    }
    EventId& longest = nodes_[static_cast<std::size_t>(node->second)].example;
    if (example != kNoEvent &&
        (longest == kNoEvent || trace_.events.duration[example] > trace_.events.duration[longest]))
      longest = example;
    return node->second;
  }

  const Trace& trace_;
  const FlameOptions& options_;
  std::unordered_set<EventId> step_marks_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, StringId> numbers_;
  std::vector<FlameNode> nodes_;
  std::vector<int> depth_;  // by node, from 1 on
  std::unordered_map<std::uint64_t, std::int32_t> by_place_;
};

}  // namespace

StandingStacks standing_stacks(const Trace& trace, std::span<const StandingBlocks> devices,
                               const FlameOptions& options) {
  Standing standing(trace, options);
  for (const StandingBlocks& device : devices) standing.add(device);
  return standing.made();
}

}  // namespace telltale
