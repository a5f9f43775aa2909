#include "replay/observer_fit.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>

namespace telltale {
namespace {

// Machines differ in what an event costs by less than this; more is no cost of recording. So a cost that is twice the
// guess, or none, is one standard deviation off.
constexpr double kMostOfGuess = 4;
constexpr double kSpreadOfGuess = 1;

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
  return {.python_call = cost.python_call * factor,
          .operator_call = cost.operator_call * factor,
          .api_call = cost.api_call * factor,
          .launch = cost.launch * factor,
          .share = cost.share * factor};
}

ObserverFit fitted_to(const StepGraph& graph, const ObserverCost& guess, Nanoseconds measured) {
  const auto to_explain = static_cast<double>(std::max<Nanoseconds>(measured, 1));
  const auto is_off_by = [&](double factor) {
    const auto step = static_cast<double>(step_without(graph, scaled(guess, factor)));
    return std::pow((step / to_explain - 1) / kSpreadOfSteps, 2) + std::pow((factor - 1) / kSpreadOfGuess, 2);
  };
  constexpr int kBits = 8;
  std::uintmax_t replays = 16;
  auto [factor, least] = boost::math::tools::brent_find_minima(is_off_by, 0.0, kMostOfGuess, kBits, replays);
  for (const double end : {0.0, kMostOfGuess})  // it looks only between them
    if (is_off_by(end) <= least) factor = end;
  ObserverFit fit{scaled(guess, factor), 1};
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
