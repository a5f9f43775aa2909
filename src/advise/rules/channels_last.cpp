// Convolutions on images with the channels first, which have to be converted before and after.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the device's time: fewer conversions than this do not decide about a layout.
constexpr double kLeastShare = 0.03;
// What batch norms reach of their roofline with the channels last. cuDNN's, for fp32 and fp16: from it the saving of
// no_mixed_precision, 30 % of the step, came out as 28. torch's own, for bfloat16, read their tensor once more in
// either pass: so much was left of those of nchw_half, which gained 48 %.
constexpr double kReachedByCudnn = 0.5, kReachedByTorch = 0.3;
// Where the roofline is not known: what that was of the norms of a ResNet.
constexpr float kNormsLeft = 0.55F;
constexpr double kUncertainty = 0.25;

float norm_left(const Trace& trace, const DeviceCall& call) {
  const auto taken = static_cast<double>(trace.events.duration[call.event]) / 1e9;
  if (!call.roofline_seconds || taken <= 0) return kNormsLeft;
  const double reached = call.traits.precision == Precision::kBf16 ? kReachedByTorch : kReachedByCudnn;
  return static_cast<float>(std::min(1.0, *call.roofline_seconds / reached / taken));
}

std::vector<Finding> find(const Facts& facts) {
  Edit edit = facts.unobserved;
  CallSum conversions(facts), norms(facts);
  Nanoseconds all = 0;
  const std::vector<bool> converts = names_where(facts.trace, is_layout_conversion);
  const std::vector<bool> normalizes = names_where(facts.trace, is_batch_norm_in_nchw);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    all += facts.trace.events.duration[call.event];
    const StringId name = facts.trace.events.name[call.event];
    if (converts[name]) {
      conversions.add(call.event);
      edit.scale_event(facts.trace, call.event, 0);
    } else if (normalizes[name]) {
      norms.add(call.event);
      edit.scale_event(facts.trace, call.event, norm_left(facts.trace, call));
    }
  }
  if (conversions.empty() || static_cast<double>(conversions.total()) < kLeastShare * static_cast<double>(all))
    return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kHigh;
  finding.evidence = conversions.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Images are converted around every convolution";
  finding.explanation = fmt::format("Convolutions want the channels last. Bringing them there and back takes {} in {}.",
                                    time_and_share(facts, conversions.time_per_step()),
                                    counted(conversions.calls_per_step(), "conversion"));
  if (!norms.empty())
    finding.explanation += fmt::format(" Batch norms with the channels first take {} and would be faster as well.",
                                       format_time(norms.time_per_step()));
  finding.fix = {"channels_last", "Keep the model and its images in the channels_last memory format.",
                 "+ model = model.to(memory_format=torch.channels_last)\n"
                 "+ x = x.to(memory_format=torch.channels_last)"};
  return {finding};
}

}  // namespace

Rule rules::channels_last() {
  return {
      {.title = "Convolutions on images with the channels first",
       .looks_for =
           fmt::format("cuDNN's kernels that convert between NCHW and NHWC, for {:.0f} % of the GPU's time or more.",
                       100 * kLeastShare),
       .needs = "CUDA activities; shapes for the roofline of batch norms.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed without the conversions, and with batch norms at {:.0f} % of their roofline, or "
           "{:.0f} % in bfloat16, which cuDNN's have no kernels for.",
           100 * kReachedByCudnn, 100 * kReachedByTorch),
       .held = "Predicted and measured savings, in percent of the step: 50 and 48 (convolutions_in_nchw), 28 and "
               "30 (no_mixed_precision), 49 and 48 (nchw_half, which the share for bfloat16 was fitted on), 37 and 34 "
               "(segmentation_in_fp32).",
       .fixes = {"channels_last"}},
      find};
}

}  // namespace telltale
