#include "trace/graph_origins.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "trace/nesting.h"

namespace telltale {
namespace {

// Graphs are cloned a few times at most; more in a row are a loop in broken numbers.
constexpr int kMostClones = 16;

struct Noted {
  GraphOrigin origin;
  std::int64_t original = 0;
};
using NotedNodes = std::unordered_map<std::int64_t, Noted>;

bool is_in_overhead(const Trace& trace, EventId event) {
  return trace.events.kind[event] == Kind::kOverhead || trace.ancestor(event, Kind::kOverhead) != kNoEvent;
}

NotedNodes noted_nodes(std::vector<CapturedNode> nodes, const Trace& trace) {
  std::ranges::sort(nodes, {}, [](const CapturedNode& node) { return std::tie(node.track, node.time, node.node); });
  const OpenRows open_rows(trace.events);
  NotedNodes noted;
  noted.reserve(nodes.size());
  std::optional<TrackId> track;
  EventId hint = 0;
  for (const CapturedNode& node : nodes) {
    if (track != node.track) hint = 0;
    track = node.track;
    // A node is noted again in each recording; what is told of it first stays.
    Noted& known = noted[node.node];
    if (known.original == 0) known.original = node.original;
    if (known.origin.call_stack == kEmptyString) known.origin.call_stack = node.call_stack;
    if (!track || known.origin.captured_in != kNoEvent) continue;
    const EventId open = open_rows.innermost_at(trace.tracks[*track], node.time, hint);
    if (open != kNoEvent && !is_in_overhead(trace, open)) known.origin.captured_in = open;
  }
  return noted;
}

// Null where nobody noted what the node was cloned from: where the clone was made says nothing.
const GraphOrigin* origin_of_node(const NotedNodes& noted, std::int64_t node) {
  for (int clones = 0; clones < kMostClones; ++clones) {
    const auto found = noted.find(node);
    if (found == noted.end()) return nullptr;
    if (found->second.original == 0) return &found->second.origin;
    node = found->second.original;
  }
  return nullptr;
}

}  // namespace

void add_graph_origins(std::vector<CapturedNode> nodes, Trace& trace) {
  if (nodes.empty() || trace.graph_nodes.empty()) return;
  const NotedNodes noted = noted_nodes(std::move(nodes), trace);
  for (std::size_t i = 0; i < trace.graph_nodes.size(); ++i) {
    const EventId work = trace.graph_nodes.event(i);
    if (!is_on_device(trace.events.kind[work])) continue;
    const GraphOrigin* const origin = origin_of_node(noted, trace.graph_nodes.row(i).node);
    if (origin == nullptr) continue;
    if (origin->captured_in != kNoEvent || origin->call_stack != kEmptyString)
      trace.graph_origins.append(work, *origin);
  }
}

}  // namespace telltale
