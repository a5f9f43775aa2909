// Products in fp32 without tensor cores, on a device that has some for TF32.
#include <fmt/format.h>

#include "advise/models/precision_model.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.2;

std::vector<Finding> find(const Facts& facts) {
  if (!has_tf32(facts)) return {};
  const PrecisionModel model(facts);
  Edit edit = facts.unobserved;
  CallSum products(facts);
  double left = 0;
  bool has_convolutions = false;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (!model.lacks_tf32(call)) continue;
    const float share = model.time_left_in(call, Precision::kTf32);
    edit.scale_event(facts.trace, call.event, share);
    products.add(call.event);
    left += share * static_cast<double>(facts.trace.events.duration[call.event]);
    has_convolutions = has_convolutions || call.work == WorkClass::kConvolution;
  }
  if (products.empty()) return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = products.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Matrix products run in fp32 without tensor cores";
  finding.explanation =
      fmt::format("Matrix products in fp32 take {} in {}; in TF32, on tensor cores, they would take about {}.",
                  time_and_share(facts, products.time_per_step()), counted(products.calls_per_step(), "kernel"),
                  format_time(static_cast<Nanoseconds>(left / facts.steps())));
  finding.fix = {"tf32",
                 "Allow TF32: it keeps the range of fp32 and 10 bits of its mantissa, which is enough for most models.",
                 "+ torch.set_float32_matmul_precision(\"high\")"};
  if (has_convolutions) finding.fix.code += "\n+ torch.backends.cudnn.allow_tf32 = True";
  return {finding};
}

}  // namespace

Rule rules::fp32_matmul() {
  return {
      {.title = "Matrix products in fp32 without tensor cores",
       .looks_for = "Kernels that multiply matrices in fp32 without tensor cores, on a GPU that has TF32, in a program "
                    "that never uses it. Products with a vector do not count: they wait for memory.",
       .needs = "CUDA activities; shapes for the roofline.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = "The steps are replayed with each product at what TF32 reaches of the GPU's peak or, if that takes "
                 "longer, of its bandwidth; without shapes, at the share of the time that remained in other programs.",
       .held = "In 6 programs the median error was 0.9 points of the step and the largest 4 (messages_along_edges: "
               "predicted 32, measured 28; recorded without stacks, 2: the host is taken to be slower than it is).",
       .fixes = {"tf32"}},
      find};
}

}  // namespace telltale
