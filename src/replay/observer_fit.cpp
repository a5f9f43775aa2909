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
// The median of a few steps in which a host ran ahead, single ones of which are off by 6 % (quartiles 7.0 and 7.6 ms,
// and 15.7 and 17.7, in two programs on an H200's host).
constexpr double kSpreadOfHostSteps = 0.03;

ReplayedStep replay_without(const StepGraph& graph, const ObserverCost& cost) {
  Edit edit;
  edit.observer = cost;
  return graph.replay(edit);
}

Nanoseconds step_without(const StepGraph& graph, const ObserverCost& cost) {
  return replay_without(graph, cost).period;
}

// How many standard deviations a time is off, squared.
double misfit(Nanoseconds replayed, Nanoseconds measured, double spread) {
  const auto to_explain = static_cast<double>(std::max<Nanoseconds>(measured, 1));
  return std::pow((static_cast<double>(replayed) / to_explain - 1) / spread, 2);
}

}  // namespace

ObserverCost scaled(const ObserverCost& cost, double factor) {
  return {.python_call = cost.python_call * factor,
          .operator_call = cost.operator_call * factor,
          .api_call = cost.api_call * factor,
          .launch = cost.launch * factor,
          .share = cost.share * factor};
}

ObserverFit fitted_to(const StepGraph& graph, const ObserverCost& guess, Nanoseconds measured,
                      std::optional<Nanoseconds> host_ahead) {
  const auto is_off_by = [&](double factor) {
    const ReplayedStep step = replay_without(graph, scaled(guess, factor));
    const double of_host = host_ahead ? misfit(step.host_busy, *host_ahead, kSpreadOfHostSteps) : 0;
    return misfit(step.period, measured, kSpreadOfSteps) + of_host + std::pow((factor - 1) / kSpreadOfGuess, 2);
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
