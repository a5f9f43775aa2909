// The compiler is still at work when the program should be in its stride.
#include "analysis/recompilation.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.1;

bool goes_on(const Facts& facts) {
  std::vector<Interval> steps;
  for (const StepSpan& step : facts.diagnosis.timing.steps) steps.push_back(step.host);
  return keeps_compiling(compiling_steps(facts.trace, steps));
}

std::vector<Finding> find(const Facts& facts) {
  if (!goes_on(facts)) return {};
  std::vector<EventId> compiling = covering_calls(facts, HostWork::kCompilation);
  std::erase_if(compiling, [&](EventId call) { return !is_compiling(facts.trace.name(call)); });
  if (compiling.empty()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : compiling) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.title = "The model is recompiled again and again";
  finding.explanation =
      fmt::format("{} of {} recorded steps compile, which takes {} per step.", steps_with(facts, compiling),
                  format_number(facts.steps()), format_time(time_in(facts, compiling)));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.confidence = Confidence::kHigh;
  finding.evidence = compiling;
  finding.source = source_line(facts.trace, compiling.front());
  finding.fix = {"stable_shapes",
                 "Pad the inputs to a few lengths, or tell the compiler which size varies; TORCH_LOGS=recompiles shows "
                 "what changed.",
                 "+ torch._dynamo.mark_dynamic(x, 0)  # or pad x to a multiple of 128\n  y = compiled(x)"};
  return {finding};
}

}  // namespace

Rule rules::recompilation() {
  return {{.title = "Compilation in the middle of the run",
           .looks_for = "Work of torch.compile's or Triton's compiler in three steps behind those that warm up, or in "
                        "two of which one is in the second half of the recording.",
           .needs = "CPU activities; no stacks are needed.",
           .saving = "The steps are replayed without the compilation.",
           .held = "Predicted and measured savings, in percent of the step: 98 and 100 (compiled_for_every_length).",
           .fixes = {"stable_shapes"}},
          find};
}

}  // namespace telltale
