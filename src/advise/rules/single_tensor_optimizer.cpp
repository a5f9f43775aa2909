// The optimizer updates parameters in many small kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/host_calls.h"
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
// On a CPU, of all its time: fused Adam and AdamW took 0.05 to 0.33 of what 10 to 100 parameters took one by one, fused
// SGD with momentum 0.09 to 0.65.
constexpr float kLeftOfAdamOnCpu = 0.25F, kLeftOfSgdOnCpu = 0.5F;

bool is_step(std::string_view name) { return name.starts_with("Optimizer.step#"); }

// Those that have a fused form which saves passes over the parameters. Others can work on lists of tensors, which saves
// the host's time and that of kernels too small for the device.
bool has_fused_form(std::string_view name) {
  return name.find("Adam") != std::string_view::npos || name.find("Adagrad") != std::string_view::npos;
}

// The fused forms that torch has for CPUs.
bool has_fused_form_on_cpu(std::string_view name) { return has_fused_form(name) || name.contains("#SGD."); }

// What a step does for the optimizer itself: a closure that computes the loss may run inside it.
std::vector<EventId> own_events(const Facts& facts, EventId step) {
  std::vector<EventId> own;
  for (EventId event = step; event < subtree_end(facts.trace, step); ++event)
    if (facts.phases[event] == Phase::kOptimizer) own.push_back(event);
  return own;
}

bool is_fused_kernel(std::string_view name) { return name.find("Fused") != std::string_view::npos; }

// What remains of a kernel among those that work on lists of tensors.
float left_in_lists(const Facts& facts, EventId work) {
  const std::vector<DeviceCall>& calls = facts.diagnosis.kernels.calls;
  const auto call = std::ranges::lower_bound(calls, work, {}, &DeviceCall::event);
  const bool is_known = call != calls.end() && call->event == work;
  return std::max(kHostLeft, is_known ? filled_share(facts, *call) : 1);
}

Fix fused_fix(std::string_view step) {
  const std::string_view name = step.contains("#SGD.") ? "SGD" : step.contains("#Adam.") ? "Adam" : "AdamW";
  return {"fused_optimizer", "Use the fused optimizer.",
          fmt::format("- torch.optim.{0}(parameters)\n+ torch.optim.{0}(parameters, fused=True)", name)};
}

std::vector<Finding> find_on_cpu(const Facts& facts, const std::vector<EventId>& steps) {
  const Trace& trace = facts.trace;
  const HostCost& cost = facts.host_cost();
  Edit edit = facts.unobserved;
  double calls = 0;
  Nanoseconds own_time = 0;
  for (const EventId step : steps) {
    const std::string_view name = trace.name(step);
    if (!has_fused_form_on_cpu(name)) return {};
    for (const EventId event : own_events(facts, step)) {
      if (trace.name(event).starts_with("aten::_fused_")) return {};
      if (cost.is_leaf(event)) ++calls;
      edit.scale_event(trace, event, has_fused_form(name) ? kLeftOfAdamOnCpu : kLeftOfSgdOnCpu);
      own_time += cost.own_time(event);
    }
  }
  const double per_step = calls / facts.steps();
  const Nanoseconds likely = facts.saved_by(edit);
  if (per_step < kLeastKernels || likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.evidence = steps;
  finding.source = source_line(trace, steps.front());
  finding.title = "The optimizer updates one parameter at a time";
  finding.explanation =
      fmt::format("Its step calls {} and takes {} as recorded; a fused optimizer passes over each parameter once.",
                  counted(std::round(per_step), "operator"),
                  format_time(static_cast<Nanoseconds>(static_cast<double>(own_time) / facts.steps())));
  finding.fix = fused_fix(trace.name(steps.front()));
  return {finding};
}

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<EventId> steps = events_named(facts, Kind::kAnnotation, is_step);
  if (steps.empty()) return {};
  if (!facts.diagnosis.breakdown.has_device) return find_on_cpu(facts, steps);
  const bool can_be_fused = std::ranges::all_of(steps, [&](EventId step) { return has_fused_form(trace.name(step)); });
  Edit edit = facts.unobserved;
  std::vector<EventId> kernels;
  Nanoseconds device = 0;
  for (const EventId step : steps) {
    for (const EventId event : own_events(facts, step)) edit.scale_event(trace, event, kHostLeft);
    for (const EventId work : facts.launched.of_range(step, subtree_end(trace, step))) {
      if (facts.phases[work] != Phase::kOptimizer) continue;
      if (can_be_fused) edit.scale_event(trace, work, kDeviceLeft);
      kernels.push_back(work);
      device += trace.events.duration[work];
      if (is_fused_kernel(trace.name(work))) return {};
      if (!can_be_fused) edit.scale_event(trace, work, left_in_lists(facts, work));
    }
  }
  const double per_step = static_cast<double>(kernels.size()) / facts.steps();
  if (per_step < (can_be_fused ? kLeastKernels : kKernelsOfSingleTensors)) return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.evidence = steps;
  finding.evidence.insert(finding.evidence.end(), kernels.begin(), kernels.end());
  finding.source = source_line(trace, steps.front());
  finding.title = per_step >= kKernelsOfSingleTensors ? "The optimizer updates one parameter at a time"
                                                      : "The optimizer passes over its parameters several times";
  finding.explanation =
      fmt::format("Its step launches {} that take {}; {} needs only a few.", counted(per_step, "kernel"),
                  format_time(static_cast<Nanoseconds>(static_cast<double>(device) / facts.steps())),
                  can_be_fused ? "a fused optimizer" : "one that works on lists of tensors");
  finding.fix =
      can_be_fused ? Fix{"fused_optimizer", "Use the fused optimizer.",
                         "- torch.optim.AdamW(parameters)\n+ torch.optim.AdamW(parameters, fused=True)"}
                   : Fix{"fused_optimizer",
                         "Let the optimizer work on lists of tensors: foreach=True, or torch._foreach_… in one of your "
                         "own.",
                         "- for p in parameters: p.add_(p.grad, alpha=-lr)\n"
                         "+ torch._foreach_add_(parameters, gradients, alpha=-lr)"};
  return {finding};
}

}  // namespace

Rule rules::single_tensor_optimizer() {
  return {
      {.title = "An optimizer in many small kernels",
       .looks_for = fmt::format(
           "Adam and its relatives whose step launches {} kernels or more, none of them fused, and other optimizers "
           "that launch {} or more. On a CPU: Adam, AdamW, Adagrad and SGD whose step calls {} operators or more.",
           kLeastKernels, kKernelsOfSingleTensors, kLeastKernels),
       .needs = "Operators; on a GPU, CUDA activities as well.",
       .saving = fmt::format(
           "The steps are replayed with {:.0f} % of the optimizer's host time and {:.0f} % of its kernels' time; of "
           "optimizers without a fused form, with as much of these as fills the GPU. On a CPU, with {:.0f} % of its "
           "time, "
           "or {:.0f} % of SGD's.",
           100 * kHostLeft, 100 * kDeviceLeft, 100 * kLeftOfAdamOnCpu, 100 * kLeftOfSgdOnCpu),
       .held = "In 16 programs the median error was 0.7 points of the step and the largest 42 (noise_made_on_cpu: "
               "predicted 7, measured -35). Two predictions were more than 15 points too high.",
       .fixes = {"fused_optimizer"}},
      find};
}

}  // namespace telltale
