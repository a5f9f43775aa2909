#include "trace_checks.h"

#include "compare_traces.h"
#include "require.h"

namespace telltale::fuzzing {

void require_same(const Trace& a, const Trace& b, const std::string& left, const std::string& right) {
  const std::string found = oracle::difference(a, b, left, right);
  require(found.empty(), "the readers agree\n" + found);
}

void require_same_examples(const Trace& a, const Trace& b) {
  const auto in_a = a.anomalies.list(), in_b = b.anomalies.list();
  for (std::size_t i = 0; i < in_a.size(); ++i)
    require(in_a[i].example.byte_offset == in_b[i].example.byte_offset && in_a[i].example.text == in_b[i].example.text,
            "the first example of an anomaly does not depend on blocks: " + std::string(name_of(in_a[i].anomaly)));
}

void require_sound(const Trace& trace) {
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    require(events.duration[event] >= 0, "no event ends before it starts");
    require(events.start[event] >= 0, "no event starts before time 0");
    const EventId parent = events.parent[event];
    require(parent == kNoEvent || (parent < event && events.track[parent] == events.track[event]),
            "a parent stands before its children, on their track");
    require(events.cause[event] == kNoEvent || events.cause[event] < events.size(), "a cause is an event");
    trace.step_of(event);
    trace.operator_of(event);
  }
}

}  // namespace telltale::fuzzing
