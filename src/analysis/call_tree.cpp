#include "analysis/call_tree.h"

#include <algorithm>
#include <array>

namespace telltale {
namespace {

std::vector<bool> names_left_out(const InternedStrings& strings) {
  std::vector<bool> left_out(strings.size());
  for (StringId id = 0; id < strings.size(); ++id) left_out[id] = is_left_out_by_torch(strings[id]);
  return left_out;
}

// A step that a recorder found by itself begins in the middle of one function and ends in that of another, so that no
// function nests in it, or it in a function. Where the functions are left out, it does contain what they called.
// Steps may overlap: the first one that contains an event has it.
void adopt_into_steps(const Trace& trace, CallTree& tree) {
  if (trace.lanes.size() == 0) return;  // nothing overlaps
  const Events& events = trace.events;
  std::vector<EventId> steps;
  for (const Step& step : trace.steps)
    if (tree.is_call[step.event]) steps.push_back(step.event);
  std::ranges::sort(steps);

  // Those of the current track that begin at or before the current row and end later than all before them: the first
  // one that ends late enough is among them.
  std::vector<EventId> open;
  auto next = steps.begin();
  for (const Track& track : trace.tracks) {
    open.clear();
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (tree.parent[event] == kNoEvent) {
        const Nanoseconds until = std::max(events.end(event), events.start[event] + 1);
        const auto around = std::ranges::lower_bound(open, until, {}, [&](EventId step) { return events.end(step); });
        if (around != open.end()) tree.parent[event] = *around;
      }
      if (next == steps.end() || *next != event) continue;
      ++next;
      if (open.empty() || events.end(open.back()) < events.end(event)) open.push_back(event);
    }
  }
}

}  // namespace

bool is_left_out_by_torch(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "[memory]",
      "profiler::_record_function_enter",
      "profiler::_record_function_enter_new",
      "profiler::_record_function_exit",
      "aten::is_leaf",
      "aten::output_nr",
      "aten::_version",
  };
  return std::ranges::find(kNames, name) != kNames.end();
}

CallTree call_tree(const Trace& trace, const CallTreeOptions& options) {
  const Events& events = trace.events;
  const EventId count = static_cast<EventId>(events.size());
  const std::vector<bool> left_out =
      options.as_torch ? names_left_out(trace.strings) : std::vector<bool>(trace.strings.size());

  CallTree tree;
  tree.parent.assign(count, kNoEvent);
  tree.is_call.assign(count, false);
  tree.is_folded.assign(count, false);
  enum : std::uint8_t { kChildless, kOneChild, kChildren };
  std::vector<std::uint8_t> children(count, kChildless);

  for (EventId event = 0; event < count; ++event) {
    const EventId around = events.parent[event];
    const EventId parent = around == kNoEvent || tree.is_call[around] ? around : tree.parent[around];
    tree.parent[event] = parent;
    if (!options.kinds.contains(events.kind[event]) || left_out[events.name[event]]) continue;
    tree.is_call[event] = true;
    if (parent != kNoEvent && children[parent] != kChildren) ++children[parent];
  }
  adopt_into_steps(trace, tree);
  if (!options.as_torch) return tree;

  for (EventId event = 0; event < count; ++event) {
    const EventId parent = tree.parent[event];
    tree.is_folded[event] = tree.is_call[event] && parent != kNoEvent && children[parent] == kOneChild &&
                            events.name[parent] == events.name[event];
  }
  return tree;
}

}  // namespace telltale
