// The step reports on itself, and the device waits until it has.
#include <fmt/format.h>

#include <algorithm>

#include "advise/covering_calls.h"
#include "advise/logging_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Logging every twentieth step saves this much of what logging in each of them costs.
constexpr double kSavedByLoggingLess = 0.95;
constexpr double kUncertainty = 0.3;

std::vector<Finding> find(const Facts& facts) {
  std::vector<EventId> calls = logging_calls(facts);
  if (calls.empty()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const auto likely = static_cast<Nanoseconds>(kSavedByLoggingLess * static_cast<double>(facts.saved_by(edit)));
  if (likely <= 0) return {};

  std::ranges::stable_sort(calls, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  Finding finding;
  finding.title = "The GPU waits while the step is logged";
  finding.explanation = fmt::format(
      "What the step prints, writes or saves, and reads from the GPU for that, takes {} of a recorded step.",
      format_time(time_in(facts, calls)));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = Confidence::kMedium;
  finding.evidence = calls;
  finding.source = source_line(facts.trace, function_that_takes_the_time(facts.trace, calls.front()));
  finding.fix = {"log_less", "Log every 20th step or so, or gather the values on the GPU and write them later.",
                 "- log(loss.item())\n+ if step % 20 == 0:\n+     log(loss.item())"};
  return {finding};
}

}  // namespace

extern const Rule kLoggingInStepRule;
const Rule kLoggingInStepRule = {
    {"logging_in_step", "Logging in the step",
     "Python functions that print, write to files, log or save, and that neither call modules nor train.", "Stacks.",
     "The steps are replayed without these functions, their waits for the device included; every twentieth step would "
     "still log.",
     "Promised and gained, in percent of the step: 20 and 20 (log_every_step)."},
    find};

}  // namespace telltale
