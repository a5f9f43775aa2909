#include "advise/patterns/anomaly_checks.h"

#include <string_view>

#include "advise/patterns/time_between_nodes.h"
#include "analysis/names_where.h"

namespace telltale {
namespace {

// The engine itself calls these, beside the node's own function: isnan(gradient)._is_any_true().item(), with any()
// instead in older versions.
bool checks(std::string_view name) {
  return name == "aten::isnan" || name == "aten::_is_any_true" || name == "aten::any" || name == "aten::item";
}

bool is_node(std::string_view name) { return name.starts_with(kEngineCall); }

bool is_of_traceback(std::string_view name) {
  return name.starts_with("traceback.py(") || name.starts_with("torch/fx/traceback.py(");
}

}  // namespace

AnomalyChecks anomaly_checks(const Facts& facts) {
  const Events& events = facts.trace.events;
  const std::vector<bool> may_check = names_where(facts.trace, checks);
  const std::vector<bool> may_be_node = names_where(facts.trace, is_node);
  const std::vector<bool> may_be_traceback = names_where(facts.trace, is_of_traceback);
  const auto is_named = [&](EventId event, Kind kind, const std::vector<bool>& names) {
    return event != kNoEvent && events.kind[event] == kind && names[events.name[event]];
  };
  AnomalyChecks found;
  bool sees_isnan = false;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!facts.is_in_steps(event)) continue;
    if (is_named(event, Kind::kOperator, may_be_node)) ++found.nodes;
    const EventId parent = events.parent[event];
    if (is_named(event, Kind::kOperator, may_check) && is_named(parent, Kind::kOperator, may_be_node)) {
      sees_isnan |= facts.trace.name(event) == "aten::isnan";
      found.calls.push_back(event);
    }
    if (is_named(event, Kind::kPython, may_be_traceback) && parent != kNoEvent &&
        events.kind[parent] == Kind::kOperator)
      found.tracebacks.push_back(event);
  }
  return sees_isnan ? found : AnomalyChecks{};
}

bool is_anomaly_check(const Trace& trace, EventId event) {
  for (EventId op = trace.ancestor(event, Kind::kOperator); op != kNoEvent; op = trace.ancestor(op, Kind::kOperator)) {
    const EventId parent = trace.events.parent[op];
    if (parent != kNoEvent && is_node(trace.name(parent))) return checks(trace.name(op));
  }
  return false;
}

}  // namespace telltale
