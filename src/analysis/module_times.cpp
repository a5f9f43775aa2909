#include "analysis/module_times.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/call_stacks.h"

namespace telltale {
namespace {

using NodeId = std::int32_t;
constexpr NodeId kNoNode = ModuleTime::kNoParent;
constexpr std::string_view kModulePrefix = "nn.Module: ";

// A module in its place. Times are its own at first, then with those of its children.
struct Node {
  std::string_view name;
  NodeId parent = kNoNode;  // always a smaller id
  std::int64_t calls = 0;
  Nanoseconds forward_cpu = 0, forward_device = 0, backward_cpu = 0, backward_device = 0, self_device = 0;
  std::vector<NodeId> children;

  Nanoseconds device() const { return forward_device + backward_device; }
  Nanoseconds cpu() const { return forward_cpu + backward_cpu; }
};

class ModuleTree {
 public:
  ModuleTree(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases)
      : trace_(trace),
        window_{timing.steps.front().host.begin, timing.steps.back().host.end},
        phases_(phases),
        callers_(callers(trace)),
        node_of_(trace.events.size(), kNoNode),
        is_inside_(trace.events.size()) {}

  std::vector<Node> grow() {
    // Forward first: what goes backward looks for its place there.
    place_events(false);
    place_captures();
    if (nodes_.empty()) return {};
    place_events(true);
    add_host_time();
    add_device_time();
    roll_up();
    return std::move(nodes_);
  }

 private:
  bool is_in_steps(EventId event) const {
    return trace_.events.start[event] >= window_.begin && trace_.events.start[event] < window_.end;
  }

  // Callers come before what they call, and a forward operator before what goes back to it.
  void place_events(bool is_backward) {
    const Events& events = trace_.events;
    for (EventId event = 0; event < events.size(); ++event) {
      if (is_on_device(events.kind[event]) || (phases_[event] == Phase::kBackward) != is_backward) continue;
      const EventId caller = callers_.of[event];
      if (caller != kNoEvent) {
        node_of_[event] = node_of_[caller];
        is_inside_[event] = is_inside_[caller];
      }
      if (events.kind[event] == Kind::kModule)
        enter_module(event);
      else if (node_of_[event] == kNoNode || is_backward)
        follow_cause(event);
    }
  }

  // A module that is computed again in the backward pass has none of its parents around it, but that operator which
  // asked for its results; its place is the one it had before.
  void enter_module(EventId event) {
    const std::string_view name = trace_.name(event);
    const auto known = by_name_.find(name);
    const bool is_known = !is_inside_[event] && phases_[event] == Phase::kBackward && known != by_name_.end();
    const NodeId node = is_known ? known->second : child_of(is_inside_[event] ? node_of_[event] : kNoNode, name);
    node_of_[event] = node;
    is_inside_[event] = 1;
    if (is_in_steps(event)) ++nodes_[static_cast<std::size_t>(node)].calls;
  }

  NodeId child_of(NodeId parent, std::string_view name) {
    const auto next = static_cast<NodeId>(nodes_.size());
    const std::uint32_t number =
        number_of_name_.try_emplace(name, static_cast<std::uint32_t>(number_of_name_.size())).first->second;
    const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32 | number;
    const auto [at, is_new] = by_place_.try_emplace(key, next);
    if (!is_new) return at->second;
    by_name_.try_emplace(name, next);
    nodes_.push_back({name, parent});
    if (parent != kNoNode) nodes_[static_cast<std::size_t>(parent)].children.push_back(next);
    return next;
  }

  // To the forward operator of a backward one, to the operator of a call that stands alone. The engine's own event
  // around a backward operator goes with it.
  void follow_cause(EventId event) {
    const EventId cause = trace_.events.cause[event];
    if (cause == kNoEvent || is_on_device(trace_.events.kind[cause]) || node_of_[cause] == kNoNode) return;
    node_of_[event] = node_of_[cause];
    const EventId caller = callers_.of[event];
    const bool is_wrapped = caller != kNoEvent && trace_.events.kind[caller] == Kind::kOperator;
    if (is_wrapped && node_of_[caller] == kNoNode) node_of_[caller] = node_of_[cause];
  }

  // Each event's time goes to its node; what its children take is theirs. How long a call took that was left open is
  // not known.
  void add_host_time() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      if (is_on_device(trace_.events.kind[event]) || !is_in_steps(event) || callers_.is_left_open[event]) continue;
      const Nanoseconds time = trace_.events.duration[event];
      add_host_time(event, time);
      if (callers_.of[event] != kNoEvent) add_host_time(callers_.of[event], -time);
    }
  }

  void add_host_time(EventId event, Nanoseconds time) {
    if (node_of_[event] == kNoNode) return;
    Node& node = nodes_[static_cast<std::size_t>(node_of_[event])];
    (phases_[event] == Phase::kBackward ? node.backward_cpu : node.forward_cpu) += time;
  }

  void add_device_time() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const EventId launch = trace_.events.cause[event];
      if (!is_device_work(trace_.events.kind[event]) || launch == kNoEvent || !is_in_steps(launch)) continue;
      const NodeId place = node_of_work(event, launch);
      if (place == kNoNode) continue;
      Node& node = nodes_[static_cast<std::size_t>(place)];
      const Nanoseconds time = trace_.events.duration[event];
      (phases_[trace_.origin_of(event)] == Phase::kBackward ? node.backward_device : node.forward_device) += time;
      node.self_device += time;
    }
  }

  NodeId node_of_work(EventId event, EventId launch) const {
    const GraphOrigin* const origin = trace_.graph_origins.empty() ? nullptr : trace_.graph_origins.find(event);
    if (origin == nullptr) return node_of_[launch];
    if (origin->captured_in != kNoEvent && node_of_[origin->captured_in] != kNoNode)
      return node_of_[origin->captured_in];
    const auto told = node_of_stack_.find(origin->call_stack);
    return told == node_of_stack_.end() || told->second == kNoNode ? node_of_[launch] : told->second;
  }

  // Of graphs that were captured before the recording, the stacks tell the modules.
  void place_captures() {
    for (std::size_t row = 0; row < trace_.graph_origins.size(); ++row) {
      const StringId stack = trace_.graph_origins.row(row).call_stack;
      if (stack == kEmptyString) continue;
      const auto [at, is_new] = node_of_stack_.try_emplace(stack, kNoNode);
      if (is_new) at->second = node_at(trace_.strings[stack]);
    }
  }

  // Frames joined by ";", innermost first.
  NodeId node_at(std::string_view frames) {
    NodeId node = kNoNode;
    for (std::size_t end = frames.size(); end > 0;) {
      const std::size_t semicolon = frames.rfind(';', end - 1);
      const std::size_t start = semicolon == std::string_view::npos ? 0 : semicolon + 1;
      const std::string_view frame = frames.substr(start, end - start);
      if (frame.starts_with(kModulePrefix)) node = child_of(node, frame);
      end = start > 0 ? start - 1 : 0;
    }
    return node;
  }

  // Children have larger ids than their parents.
  void roll_up() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (nodes_[i].parent == kNoNode) continue;
      Node& parent = nodes_[static_cast<std::size_t>(nodes_[i].parent)];
      parent.forward_cpu += nodes_[i].forward_cpu;
      parent.forward_device += nodes_[i].forward_device;
      parent.backward_cpu += nodes_[i].backward_cpu;
      parent.backward_device += nodes_[i].backward_device;
    }
  }

  const Trace& trace_;
  Interval window_;
  const std::vector<Phase>& phases_;
  Callers callers_;
  std::vector<NodeId> node_of_;  // by event
  std::vector<char> is_inside_;  // by event: whether it is within a call of its node, rather than caused by one
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, std::uint32_t> number_of_name_;
  std::unordered_map<std::uint64_t, NodeId> by_place_;    // by parent and number of the name
  std::unordered_map<std::string_view, NodeId> by_name_;  // the first place of each
  std::unordered_map<StringId, NodeId> node_of_stack_;    // of captures
};

std::string_view plain_name(std::string_view name) {
  return name.starts_with(kModulePrefix) ? name.substr(kModulePrefix.size()) : name;
}

// The path of a module repeats all around it, so that those of modules that nest deeply would be longer than all else.
std::string with_end_of(const std::string& path) {
  constexpr std::size_t kMostOfPath = 2000;
  if (path.size() <= kMostOfPath) return path;
  const std::size_t cut = path.find('/', path.size() - kMostOfPath);
  return "…" + (cut == std::string::npos ? std::string() : path.substr(cut));
}

// Writes the tree out, parents before children.
class TreeWriter {
 public:
  TreeWriter(std::vector<Node> nodes, std::size_t steps)
      : nodes_(std::move(nodes)), steps_(static_cast<Nanoseconds>(steps)) {}

  std::vector<ModuleTime> write() {
    std::vector<NodeId> roots;
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id)
      if (node(id).parent == kNoNode) roots.push_back(id);
    struct Waiting {
      NodeId node;
      int parent;
    };
    std::vector<Waiting> waiting;
    const auto add = [&](std::vector<NodeId>& siblings, int parent) {
      std::ranges::stable_sort(siblings, std::greater{},
                               [&](NodeId id) { return std::pair(node(id).device(), node(id).cpu()); });
      for (auto id = siblings.rbegin(); id != siblings.rend(); ++id) waiting.push_back({*id, parent});
    };
    add(roots, ModuleTime::kNoParent);
    while (!waiting.empty()) {
      const auto [id, parent] = waiting.back();
      waiting.pop_back();
      times_.push_back(written(node(id), parent));
      add(node(id).children, static_cast<int>(times_.size()) - 1);
    }
    return std::move(times_);
  }

 private:
  Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }

  ModuleTime written(const Node& from, int parent) const {
    ModuleTime time;
    time.name = plain_name(from.name);
    time.path = time.name;
    time.parent = parent;
    if (parent != ModuleTime::kNoParent) {
      const ModuleTime& around = times_[static_cast<std::size_t>(parent)];
      time.path = with_end_of(around.path) + "/" + time.name;
      time.depth = around.depth + 1;
    }
    time.calls = from.calls;
    time.forward_cpu_ns = from.forward_cpu / steps_;
    time.forward_device_ns = from.forward_device / steps_;
    time.backward_cpu_ns = from.backward_cpu / steps_;
    time.backward_device_ns = from.backward_device / steps_;
    time.self_device_ns = from.self_device / steps_;
    return time;
  }

  std::vector<Node> nodes_;
  Nanoseconds steps_;
  std::vector<ModuleTime> times_;
};

}  // namespace

std::vector<ModuleTime> module_times(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  std::vector<Node> nodes = ModuleTree(trace, timing, phases).grow();
  return TreeWriter(std::move(nodes), timing.steps.size()).write();
}

}  // namespace telltale
