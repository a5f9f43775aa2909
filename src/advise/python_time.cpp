#include "advise/python_time.h"

namespace telltale {
namespace {

// By event: whether it, or anything called within it, is an operator or an API call.
std::vector<bool> events_with_operators(const Trace& trace) {
  const Events& events = trace.events;
  std::vector<bool> has_operator(events.size());
  for (EventId event = static_cast<EventId>(events.size()); event-- > 0;) {
    if (events.kind[event] == Kind::kOperator || is_api_call(events.kind[event])) has_operator[event] = true;
    if (has_operator[event] && events.parent[event] != kNoEvent) has_operator[events.parent[event]] = true;
  }
  return has_operator;
}

}  // namespace

std::vector<EventId> user_python_without_operators(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> has_operator = events_with_operators(trace);
  const std::vector<bool> is_user = names_where(trace, [](std::string_view name) {
    const std::optional<SourceLine> frame = parsed_frame(name);
    return frame && !is_library_frame(*frame);
  });
  std::vector<EventId> roots;
  std::vector<bool> is_covered(trace.events.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    is_covered[event] = parent != kNoEvent && is_covered[parent];
    if (is_covered[event] || trace.events.kind[event] != Kind::kPython || has_operator[event]) continue;
    if (!is_user[trace.events.name[event]] || facts.host_work[event] != HostWork::kPython) continue;
    if (!facts.is_in_steps(event)) continue;
    is_covered[event] = true;
    roots.push_back(event);
  }
  return roots;
}

}  // namespace telltale
