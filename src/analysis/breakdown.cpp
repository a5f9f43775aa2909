#include "analysis/breakdown.h"

#include <numeric>

namespace telltale {

Nanoseconds StepBreakdown::busy_total() const { return std::accumulate(busy.begin(), busy.end(), Nanoseconds{0}); }

StepBreakdown step_breakdown(const Trace&, const StepTiming& timing, const std::vector<HostWork>&) {
  StepBreakdown breakdown;
  breakdown.step = timing.period();
  return breakdown;
}

}  // namespace telltale
