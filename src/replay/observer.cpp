#include "replay/observer.h"

namespace telltale {
namespace {

constexpr ObserverCost kWithPythonCalls = {.python_call = 6'000, .operator_call = 0, .api_call = 2'000};

}  // namespace

ObserverCost observer_cost(const Trace&) { return kWithPythonCalls; }

}  // namespace telltale
