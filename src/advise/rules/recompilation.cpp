// The compiler is still at work when the program should be in its stride.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.1;

// Kernels are loaded once each, whatever the shapes.
bool is_loading(std::string_view name) { return name.find("Load") != std::string_view::npos; }

// The first steps of a program compile, and so may a last batch that is smaller; one of several in the later half of
// the recording is neither.
bool goes_on(const Facts& facts, const std::vector<EventId>& compiling) {
  const StepTiming& timing = facts.diagnosis.timing;
  const auto is_late = [&](EventId call) {
    return 2 * step_at(timing, facts.trace.events.start[call]) >= static_cast<int>(timing.steps.size());
  };
  return steps_with(facts, compiling) > 1 && std::ranges::any_of(compiling, is_late);
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<EventId> compiling = covering_calls(facts, HostWork::kCompilation);
  std::erase_if(compiling, [&](EventId call) { return is_loading(facts.trace.name(call)); });
  if (!goes_on(facts, compiling)) return {};
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
           .looks_for = "Work of torch.compile's or Triton's compiler in several steps, at least one of them in the "
                        "second half of the recording.",
           .needs = "CPU activities; no stacks are needed.",
           .saving = "The steps are replayed without the compilation.",
           .held = "Predicted and measured savings, in percent of the step: 98 and 100 (compiled_for_every_length).",
           .fixes = {"stable_shapes"}},
          find};
}

}  // namespace telltale
