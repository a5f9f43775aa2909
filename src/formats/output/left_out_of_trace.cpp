#include "formats/output/left_out_of_trace.h"

#include <algorithm>

namespace telltale {

void leave_out_anomalies(const Trace& trace, LeftOutList& left_out) {
  const std::uint64_t count = trace.anomalies.count(Severity::kLost) + trace.anomalies.count(Severity::kRepaired);
  left_out.add(count, "anomaly of the trace", "anomalies of the trace", "telltale info lists them");
}

void leave_out_all_but_events(const Trace& trace, LeftOutList& left_out, std::string_view why) {
  left_out.add(trace.memory.size(), "memory event", "memory events", why);
  left_out.add(trace.counters.size(), "value of a counter", "values of counters", why);
  left_out.add(trace.flows.size(), "flow", "flows", why);
}

void leave_out_details(const Trace& trace, LeftOutList& left_out, std::string_view why) {
  const std::size_t rows = trace.operators.size() + trace.operator_stacks.size() + trace.kernels.size() +
                           trace.graph_nodes.size() + trace.graph_origins.size() + trace.copies.size() +
                           trace.syncs.size() + trace.collectives.size() + trace.categories.size() +
                           trace.other_arguments.size();
  left_out.add(rows, "detail of an event, such as its shapes", "details of events, such as shapes", why);
}

void leave_out_causes(const Trace& trace, LeftOutList& left_out, std::string_view why) {
  const auto links = trace.events.size() - static_cast<std::size_t>(std::ranges::count(trace.events.cause, kNoEvent));
  left_out.add(links, "link to a cause", "links to a cause", why);
}

}  // namespace telltale
