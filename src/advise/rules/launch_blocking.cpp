// Every launch waits for its kernel: CUDA_LAUNCH_BLOCKING was left on.
#include <fmt/format.h>

#include "advise/rule.h"
#include "analysis/api_calls.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  if (!facts.graph.is_launch_blocking()) return {};
  const Events& events = facts.trace.events;
  const std::vector<bool> launches = names_where(facts.trace, is_launching_call);
  Edit edit = facts.unobserved;
  Finding finding;
  std::size_t calls = 0;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_api_call(events.kind[event]) || !launches[events.name[event]] || !facts.is_in_steps(event)) continue;
    edit.drop_wait(facts.trace, event);
    ++calls;
    if (finding.evidence.size() < Finding::kMaxEvidence) finding.evidence.push_back(event);
  }
  const Nanoseconds likely = calls == 0 ? 0 : facts.saved_by(edit);
  if (likely <= 0) return {};

  finding.title = "Every launch waits for its kernel to finish";
  finding.explanation =
      fmt::format("Launches ({} per step) return only when their kernel has ended, so the host and the GPU take turns.",
                  format_number(static_cast<double>(calls) / facts.steps()));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kHigh;
  finding.fix = {"unset_launch_blocking",
                 "Unset CUDA_LAUNCH_BLOCKING (AMD_SERIALIZE_KERNEL on ROCm): it is meant for debugging.",
                 "- CUDA_LAUNCH_BLOCKING=1 python program.py\n+ python program.py"};
  return {finding};
}

}  // namespace

Rule rules::launch_blocking() {
  return {{.title = "Launches that wait",
           .looks_for =
               fmt::format("Launching calls that nearly all end after their kernel, among kernels of {} µs or more.",
                           StepGraph::kTellingKernel / 1000),
           .needs = "CPU and CUDA activities.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed with launches that only launch.",
           .held = "Predicted and measured savings, in percent of the step: 42 and 42 (launches_that_block).",
           .fixes = {"unset_launch_blocking"}},
          find};
}

}  // namespace telltale
