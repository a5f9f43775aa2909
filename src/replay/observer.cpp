#include "replay/observer.h"

#include <algorithm>

namespace telltale {
namespace {

// Fitted on 58 pairs of recorded and unprofiled steps with stacks (31 programs), and on 18 pairs without (9 programs),
// all with torch.profiler. With stacks, what operators cost is hidden behind what Python calls do.
constexpr ObserverCost kWithPythonCalls = {.python_call = 6'000, .operator_call = 0, .api_call = 2'000};
constexpr ObserverCost kWithoutPythonCalls = {.python_call = 0, .operator_call = 3'000, .api_call = 5'000};

// Our own recorder: measured on 192 steps of examples/python/train.py, 17,600 operators and 8,800 Python calls each, on
// an AMD EPYC (11.5 to 12.3 ms without it, 13.7 with, 14.3 with stacks, 17.4 with shapes).
constexpr ObserverCost kOfOurRecorder = {.python_call = 75, .operator_call = 100, .api_call = 0};
constexpr double kInputsOfOperator = 210;

// Our torch adapter notes what it was asked for.
bool is_recorded_by_us(const Trace& trace) { return trace.metadata_named("recorded") != nullptr; }

ObserverCost cost_of_our_recorder(const Trace& trace) {
  ObserverCost cost = kOfOurRecorder;
  if (trace.recorded.shapes) cost.operator_call += kInputsOfOperator;
  return cost;
}

}  // namespace

ObserverCost observer_cost(const Trace& trace) {
  if (is_recorded_by_us(trace)) return cost_of_our_recorder(trace);
  const bool has_python =
      std::find(trace.events.kind.begin(), trace.events.kind.end(), Kind::kPython) != trace.events.kind.end();
  return has_python ? kWithPythonCalls : kWithoutPythonCalls;
}

Edit without_observer(const Trace& trace) {
  Edit edit;
  edit.observer = observer_cost(trace);
  return edit;
}

}  // namespace telltale
