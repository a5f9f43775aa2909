#include "analysis/step_range.h"

namespace telltale {

std::vector<StepId> steps_in(const Trace& trace, const StepRange& range) {
  std::vector<StepId> chosen;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (range.contains(trace.steps[i])) chosen.push_back(static_cast<StepId>(i));
  }
  return chosen;
}

StepFilter::StepFilter(const Trace& trace, const StepRange& range) : trace_(trace), is_chosen_(trace.steps.size()) {
  for (const StepId step : steps_in(trace, range)) is_chosen_[static_cast<std::size_t>(step)] = true;
}

bool StepFilter::accepts(EventId event) const {
  const StepId step = trace_.step_of(event);
  return step != kNoStep && is_chosen_[static_cast<std::size_t>(step)];
}

}  // namespace telltale
