// Products and convolutions in 32 bits, on a device that multiplies twice as fast in 16.
#include <fmt/format.h>

#include "advise/models/precision_model.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the time in products, convolutions and attention: less is what a program in mixed precision keeps on purpose.
constexpr double kLeastShare = 0.5;
constexpr double kUncertainty = 0.3;

Fix fix_for(const Facts& facts) {
  if (facts.trains)
    return {"bf16", "Run the forward pass and the loss under autocast in bfloat16; the weights stay in fp32.",
            "- loss = loss_of(model(x), y)\n+ with torch.autocast(\"cuda\", torch.bfloat16):\n"
            "+     loss = loss_of(model(x), y)"};
  return {
      "bf16",
      "Run the model under autocast in bfloat16, or load its weights in it; where weights fill the memory, quantize "
      "them further.",
      "- y = model(x)\n+ with torch.autocast(\"cuda\", torch.bfloat16):\n+     y = model(x)"};
}

std::vector<Finding> find(const Facts& facts) {
  if (!has_tensor_cores_for_bf16(facts)) return {};
  CallSum all(facts), in_32_bits(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (multiplies(call)) all.add(call.event);
    if (multiplies_in_32_bits(call)) in_32_bits.add(call.event);
  }
  if (in_32_bits.empty() || static_cast<double>(in_32_bits.total()) < kLeastShare * static_cast<double>(all.total()))
    return {};
  const Edit edit = under_autocast(facts);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  double left = 0;
  for (const EventId call : in_32_bits.calls())
    left += edit.scale[call] * static_cast<double>(facts.trace.events.duration[call]);
  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kMedium : Confidence::kLow;
  finding.evidence = in_32_bits.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Matrix products and convolutions run in 32 bits";
  finding.explanation = fmt::format(
      "Matrix products, convolutions and attention in fp32 or TF32 take {}; in bfloat16 they would take about {}",
      time_and_share(facts, in_32_bits.time_per_step()), format_time(static_cast<Nanoseconds>(left / facts.steps())));
  finding.explanation +=
      edit.added_device_ns > 0 ? fmt::format(", plus {} for casts.", format_time(edit.added_device_ns)) : ".";
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::no_mixed_precision() {
  return {
      {.title = "Matrix products and convolutions in 32 bits",
       .looks_for = fmt::format("Matrix products, convolutions and attention that spend {:.0f} % of their time or "
                                "more in fp32 or TF32, on a GPU with tensor cores for bfloat16.",
                                100 * kLeastShare),
       .needs = "CPU and CUDA activities; shapes for the roofline and for the size of casts.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = "The steps are replayed as autocast would run them: products at what bfloat16 reaches of the "
                 "GPU's peak or bandwidth, with casts added on the GPU and, as launches, on the host. Where the "
                 "host is the bottleneck that is a loss, and the rule says nothing.",
       .held = "In 8 programs the median error was 7.7 points of the step and the largest 38 "
               "(few_queries_many_items: predicted 7, measured 45). One prediction was more than 15 points too high.",
       .fixes = {"bf16"}},
      find};
}

}  // namespace telltale
