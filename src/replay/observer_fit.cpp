#include "replay/observer_fit.h"

#include <algorithm>

namespace telltale {
namespace {

// Machines differ in what an event costs by less than this; more is no cost of recording.
constexpr double kMostOfGuess = 4;
constexpr int kHalvings = 10;  // to a 250th of the guess

// What the guess was off by, of the pairs of recorded and unprofiled steps that it was fitted on: see edit.cpp.
constexpr double kLeastCost = 0.7, kMostCost = 1.25;
// Two runs of a program whose device sets the pace differ by this much, whatever recording costs.
constexpr double kSpreadOfSteps = 0.02;

Nanoseconds step_without(const StepGraph& graph, const ObserverCost& cost) {
  Edit edit;
  edit.observer = cost;
  return graph.replay(edit).period;
}

}  // namespace

ObserverCost scaled(const ObserverCost& cost, double factor) {
  return {cost.python_call * factor, cost.operator_call * factor, cost.api_call * factor, cost.share * factor};
}

ObserverFit fitted_to(const StepGraph& graph, const ObserverCost& guess, Nanoseconds measured) {
  double low = 0, high = kMostOfGuess;
  if (step_without(graph, scaled(guess, high)) > measured) {
    low = high;
  } else if (step_without(graph, {}) > measured) {
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (step_without(graph, scaled(guess, middle)) > measured ? low : high) = middle;
    }
  } else {
    high = low;
  }
  ObserverFit fit{scaled(guess, high), 1};
  const Nanoseconds replayed = step_without(graph, fit.cost);
  if (replayed > 0) fit.rest = static_cast<double>(measured) / static_cast<double>(replayed);
  return fit;
}

UnobservedRange unobserved_range(const StepGraph& graph, const ObserverCost& guess) {
  const auto shorter = static_cast<double>(step_without(graph, scaled(guess, kMostCost)));
  const auto longer = static_cast<double>(step_without(graph, scaled(guess, kLeastCost)));
  return {static_cast<Nanoseconds>(shorter * (1 - kSpreadOfSteps)),
          static_cast<Nanoseconds>(longer * (1 + kSpreadOfSteps))};
}

}  // namespace telltale
