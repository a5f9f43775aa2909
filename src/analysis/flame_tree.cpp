#include "analysis/flame_tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analysis/call_stacks.h"

namespace telltale {
namespace {

using NodeId = std::int32_t;
constexpr NodeId kNone = FlameNode::kNoParent;

// A tree that grows from its outermost calls; parents have smaller ids.
class Growing {
 public:
  explicit Growing(FlameOrder order) : order_(order) {}

  NodeId child(NodeId parent, StringId name, bool is_track = false) {
    const std::uint64_t key = std::uint64_t{name} << 33 | std::uint64_t{static_cast<std::uint32_t>(parent + 1)} << 1 |
                              std::uint64_t{is_track};
    if (order_ == FlameOrder::kHeavy || is_track) {
      const auto [at, is_new] = by_place_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
      if (is_new) add(parent, name, is_track);
      return at->second;
    }
    const NodeId last = last_child_[static_cast<std::size_t>(parent + 1)];
    if (last != kNone && nodes_[static_cast<std::size_t>(last)].name == name) return last;
    return last_child_[static_cast<std::size_t>(parent + 1)] = add(parent, name, is_track);
  }

  FlameNode& operator[](NodeId node) { return nodes_[static_cast<std::size_t>(node)]; }
  std::vector<FlameNode>& nodes() { return nodes_; }

 private:
  NodeId add(NodeId parent, StringId name, bool is_track) {
    nodes_.push_back({.name = name, .is_track = is_track, .parent = parent});
    last_child_.push_back(kNone);
    return static_cast<NodeId>(nodes_.size()) - 1;
  }

  FlameOrder order_;
  std::vector<FlameNode> nodes_;
  std::unordered_map<std::uint64_t, NodeId> by_place_;
  std::vector<NodeId> last_child_ = {kNone};  // of the outermost, then by node
};

class Weighing {
 public:
  Weighing(const Trace& trace, const StepTiming& timing, const FlameOptions& options)
      : trace_(trace),
        window_{timing.steps.front().host.begin, timing.steps.back().host.end},
        options_(options),
        callers_(callers(trace)),
        is_transparent_(trace.events.size()),
        tree_(options.order) {
    // Each step has a name of its own: what they have in common would be parted by it.
    if (options.order == FlameOrder::kHeavy)
      for (const Step& step : trace.steps)
        if (step.event != kNoEvent) is_transparent_[step.event] = true;
  }

  FlameTree made() {
    place_calls();
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (node_of_[event] != kNone && is_frame(event)) add(node_of_[event], 0, event);
    if (options_.weight == FlameWeight::kHostTime) weigh_calls();
    if (options_.weight == FlameWeight::kDeviceTime) weigh_work();
    if (options_.weight == FlameWeight::kBytes) weigh_allocations();
    return finished_flame_tree(std::move(tree_.nodes()), options_.order, options_.most_nodes);
  }

 private:
  bool is_call(EventId event) const {
    return trace_.tracks[trace_.events.track[event]].kind == TrackKind::kThread &&
           !is_on_device(trace_.events.kind[event]) && !callers_.is_left_open[event];
  }
  bool is_in_steps(Nanoseconds time) const { return time >= window_.begin && time < window_.end; }
  Nanoseconds time_in_steps(EventId event) const {
    return std::max<Nanoseconds>(
        0, std::min(trace_.events.end(event), window_.end) - std::max(trace_.events.start[event], window_.begin));
  }

  // Whether the event has a frame of its own.
  bool is_frame(EventId event) const {
    return options_.frames == FlameFrames::kStacks ? !is_transparent_[event]
                                                   : trace_.events.kind[event] == Kind::kModule;
  }

  NodeId track_node(TrackId track) {
    if (options_.frames == FlameFrames::kModules) return outside();
    return tree_.child(kNone, trace_.tracks[track].name, true);
  }
  NodeId outside() { return tree_.child(kNone, kEmptyString, true); }

  // The node of each call, those around it first. Calls that have no part in the steps have none.
  void place_calls() {
    const Events& events = trace_.events;
    node_of_.assign(events.size(), kNone);
    const bool by_module = options_.frames == FlameFrames::kModules;
    for (EventId event = 0; event < events.size(); ++event) {
      if (!is_call(event) || (!by_module && !has_part(event))) continue;
      const EventId caller = callers_.of[event];
      const NodeId around = caller == kNoEvent ? kNone : node_of_[caller];
      if (!by_module && is_transparent_[event])
        node_of_[event] = around == kNone ? track_node(events.track[event]) : around;
      else if (!by_module)
        node_of_[event] = tree_.child(around == kNone ? track_node(events.track[event]) : around, events.name[event]);
      else if (events.kind[event] == Kind::kModule)
        node_of_[event] = tree_.child(around, events.name[event]);
      else
        node_of_[event] = around;
    }
    if (by_module) follow_causes();
  }

  // Captures may lie before the steps that launch them.
  bool has_part(EventId event) const {
    return options_.weight == FlameWeight::kDeviceTime && !trace_.graph_origins.empty()
               ? true
               : time_in_steps(event) > 0 || is_in_steps(trace_.events.start[event]);
  }

  // What runs backward, or on another thread, belongs to where it comes from.
  void follow_causes() {
    constexpr int kMostCauses = 5;
    std::vector<EventId> cause(trace_.events.size(), kNoEvent);
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const EventId caller = callers_.of[event];
      cause[event] = trace_.events.cause[event];
      if (cause[event] == kNoEvent && caller != kNoEvent) cause[event] = cause[caller];
    }
    const std::vector<NodeId> around = node_of_;
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      if (!is_call(event)) continue;
      EventId at = event;
      for (int step = 0; step < kMostCauses && at != kNoEvent && around[at] == kNone; ++step) at = cause[at];
      node_of_[event] = at == kNoEvent || around[at] == kNone ? outside() : around[at];
    }
  }

  void add(NodeId node, std::int64_t value, EventId event) {
    FlameNode& to = tree_[node];
    to.value += value;
    if (event != kNoEvent &&
        (to.example == kNoEvent || trace_.events.duration[event] > trace_.events.duration[to.example]))
      to.example = event;
  }

  void weigh_calls() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      if (!is_call(event) || node_of_[event] == kNone) continue;
      const Nanoseconds time = time_in_steps(event);
      const EventId caller = callers_.of[event];
      add(node_of_[event], time, kNoEvent);
      if (caller != kNoEvent && node_of_[caller] != kNone) tree_[node_of_[caller]].value -= time;
    }
  }

  // By launch, so that the order is that of the calls.
  void weigh_work() {
    std::vector<std::pair<EventId, EventId>> works;
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (is_device_work(trace_.events.kind[event]) && counts(event))
        works.emplace_back(trace_.origin_of(event), event);
    std::ranges::sort(works);
    for (const auto& [origin, work] : works) {
      const NodeId around = origin == kNoEvent ? kNone : node_of_[origin];
      const NodeId node =
          tree_.child(around == kNone ? track_node(trace_.events.track[work]) : around, trace_.events.name[work]);
      add(node, trace_.events.duration[work], work);
    }
  }

  // Launched in the steps or, where its launch is not known, begun in them.
  bool counts(EventId work) const {
    const EventId launch = trace_.events.cause[work];
    return is_in_steps(trace_.events.start[launch == kNoEvent ? work : launch]);
  }

  void weigh_allocations() {
    const MemoryEvents& memory = trace_.memory;
    for (std::size_t row = 0; row < memory.size(); ++row) {
      if (memory.bytes[row] <= 0 || !is_in_steps(memory.time[row])) continue;
      const EventId event = memory.event[row];
      const NodeId around = event == kNoEvent ? kNone : node_of_[event];
      add(around == kNone ? track_node(memory.track[row]) : around, memory.bytes[row], kNoEvent);
    }
  }

  const Trace& trace_;
  Interval window_;
  FlameOptions options_;
  Callers callers_;
  std::vector<bool> is_transparent_;  // by event
  Growing tree_;
  std::vector<NodeId> node_of_;  // by event
};

// Where calls overlap without containing each other, more may be taken from one than it has.
void roll_up(std::vector<FlameNode>& nodes) {
  for (FlameNode& node : nodes) node.value = std::max<std::int64_t>(0, node.value);
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (nodes[i].parent != kNone) nodes[static_cast<std::size_t>(nodes[i].parent)].value += nodes[i].value;
}

// Siblings one behind the other, whether they are shown or not.
void lay_out(std::vector<FlameNode>& nodes, FlameOrder order) {
  std::vector<std::size_t> places(nodes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == FlameOrder::kHeavy)
    std::ranges::stable_sort(places, std::ranges::greater{}, [&](std::size_t node) { return nodes[node].value; });
  // Those within a node begin where it does; its own start is known when all before it are.
  std::vector<std::int64_t> taken(nodes.size(), 0);
  std::int64_t taken_by_roots = 0;
  for (const std::size_t node : places) {
    std::int64_t& before =
        nodes[node].parent == kNone ? taken_by_roots : taken[static_cast<std::size_t>(nodes[node].parent)];
    nodes[node].start = before;
    before += nodes[node].value;
  }
  for (FlameNode& node : nodes)
    if (node.parent != kNone) node.start += nodes[static_cast<std::size_t>(node.parent)].start;
}

}  // namespace

FlameTree finished_flame_tree(std::vector<FlameNode> nodes, FlameOrder order, std::size_t most_nodes) {
  roll_up(nodes);
  lay_out(nodes, order);
  FlameTree tree;
  std::vector<std::size_t> kept;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].value == 0) continue;
    kept.push_back(node);
    if (nodes[node].parent == kNone) tree.total += nodes[node].value;
  }
  if (kept.size() > most_nodes) {
    // No call is lighter than those within, and comes before them where it is as heavy.
    std::ranges::stable_sort(kept, std::ranges::greater{}, [&](std::size_t node) { return nodes[node].value; });
    tree.left_out = kept.size() - most_nodes;
    kept.resize(most_nodes);
    std::ranges::sort(kept);
  }
  std::vector<NodeId> place(nodes.size(), kNone);
  for (const std::size_t node : kept) {
    place[node] = static_cast<NodeId>(tree.nodes.size());
    tree.nodes.push_back(nodes[node]);
    NodeId& parent = tree.nodes.back().parent;
    if (parent != kNone) parent = place[static_cast<std::size_t>(parent)];
  }
  return tree;
}

FlameTree flame_tree(const Trace& trace, const StepTiming& timing, const FlameOptions& options) {
  return Weighing(trace, timing, options).made();
}

}  // namespace telltale
