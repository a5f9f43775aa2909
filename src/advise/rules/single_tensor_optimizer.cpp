// The optimizer updates parameters in many small kernels.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What the fused optimizer leaves: of the host's time (measured 0.04 in two programs whose host was the bottleneck, 0.3
// in two that were less so), and of the kernels' of one that works on lists of tensors (0.31 to 0.38 in four).
constexpr float kHostLeft = 0.05F, kDeviceLeft = 0.35F;
// An optimizer that launches fewer kernels per step is fused, or has little to do.
constexpr double kLeastKernels = 8;
// Beyond this it goes through its parameters one by one.
constexpr double kKernelsOfSingleTensors = 200;
constexpr double kUncertainty = 0.3;

bool is_step(std::string_view name) { return name.starts_with("Optimizer.step#"); }

// Those that have a fused form which saves passes over the parameters; SGD makes one pass anyway.
bool has_fused_form(std::string_view name) {
  return name.find("Adam") != std::string_view::npos || name.find("Adagrad") != std::string_view::npos;
}

bool is_fused_kernel(std::string_view name) { return name.find("Fused") != std::string_view::npos; }

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<EventId> steps = events_named(
      facts, Kind::kAnnotation, [](std::string_view name) { return is_step(name) && has_fused_form(name); });
  if (steps.empty()) return {};
  Edit edit = facts.unobserved;
  std::vector<EventId> kernels;
  Nanoseconds device = 0;
  for (const EventId step : steps) {
    edit.scale_subtree(trace, facts.launched, step, kHostLeft, kDeviceLeft);
    for (const EventId work : facts.launched.of_range(step, subtree_end(trace, step))) {
      kernels.push_back(work);
      device += trace.events.duration[work];
      if (is_fused_kernel(trace.name(work))) return {};
    }
  }
  const double per_step = static_cast<double>(kernels.size()) / facts.steps();
  if (per_step < kLeastKernels) return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.evidence = steps;
  finding.evidence.insert(finding.evidence.end(), kernels.begin(), kernels.end());
  finding.source = source_line(trace, steps.front());
  finding.title = per_step >= kKernelsOfSingleTensors ? "The optimizer updates one parameter at a time"
                                                      : "The optimizer passes over its parameters several times";
  finding.explanation =
      fmt::format("Its step launches {} that take {}; a fused optimizer needs only a few.", counted(per_step, "kernel"),
                  format_time(static_cast<Nanoseconds>(static_cast<double>(device) / facts.steps())));
  finding.fix = {"fused_optimizer", "Use the fused optimizer.",
                 "- torch.optim.AdamW(parameters)\n+ torch.optim.AdamW(parameters, fused=True)"};
  return {finding};
}

}  // namespace

Rule rules::single_tensor_optimizer() {
  return {{.title = "An optimizer in many small kernels",
           .looks_for = fmt::format(
               "Adam and its relatives whose step launches {} kernels or more, none of them fused.", kLeastKernels),
           .needs = "CPU and CUDA activities.",
           .saving = fmt::format(
               "The steps are replayed with {:.0f} % of the optimizer's host time and {:.0f} % of its kernels' time.",
               100 * kHostLeft, 100 * kDeviceLeft),
           .held = "In 16 programs the median error was 0.7 points of the step and the largest 42 (noise_made_on_cpu: "
                   "predicted 7, measured -35). Two predictions were more than 15 points too high.",
           .fixes = {"fused_optimizer"}},
          find};
}

}  // namespace telltale
