#include "advise/patterns/changing_shapes.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace telltale {
namespace {

// A model that is called less often in a step is not called in a loop that changes its shapes.
constexpr double kLeastCallsOfStep = 4;
// Of the calls, whose shapes no other call of the step has.
constexpr double kShareOfNewShapes = 0.75;

bool has_module_around(const Trace& trace, EventId event) {
  for (EventId at = trace.events.parent[event]; at != kNoEvent; at = trace.events.parent[at])
    if (trace.events.kind[at] == Kind::kModule) return true;
  return false;
}

std::vector<StringId> shapes_within(const Trace& trace, EventId call) {
  std::vector<StringId> shapes;
  const EventId end = subtree_end(trace, call);
  for (EventId event = call; event < end; ++event) {
    const OperatorInfo* const op = trace.operators.find(event);
    if (op != nullptr && op->inputs != OperatorInfo::kNoInputs)
      shapes.push_back(trace.operator_inputs[op->inputs].shapes);
  }
  return shapes;
}

}  // namespace

bool has_new_shapes_at_every_call(const Facts& facts) {
  struct Calls {
    double count = 0;
    std::set<std::vector<StringId>> shapes;
  };
  const Trace& trace = facts.trace;
  std::map<std::pair<StringId, int>, Calls> by_model_and_step;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kModule || !facts.is_in_steps(event)) continue;
    if (has_module_around(trace, event)) continue;
    const int step = step_at(facts.diagnosis.timing, trace.events.start[event]);
    Calls& calls = by_model_and_step[{trace.events.name[event], step}];
    std::vector<StringId> shapes = shapes_within(trace, event);
    if (shapes.empty()) continue;
    ++calls.count;
    calls.shapes.insert(std::move(shapes));
  }
  for (const auto& [model, calls] : by_model_and_step)
    if (calls.count >= kLeastCallsOfStep && static_cast<double>(calls.shapes.size()) >= kShareOfNewShapes * calls.count)
      return true;
  return false;
}

}  // namespace telltale
