// Attention written out as products and a softmax, where one kernel does it.
#include <fmt/format.h>

#include <algorithm>

#include "advise/attention_pattern.h"
#include "advise/call_sum.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What fused attention reached of the peak in 16 bits, or of a third of that of TF32, with which it computes fp32: 0.25
// to 0.5 in training, forward and backward.
constexpr double kReachedShare = 0.3;
constexpr double kProductsForFp32 = 3;
// Operations of the backward pass for each one of the forward pass, whose scores it computes again.
constexpr double kBackwardWork = 2.5;
// Without shapes or peaks; 0.12 of it was left of a GPT-2's.
constexpr double kTimeLeft = 0.2;
constexpr double kUncertainty = 0.2;

// Operations a second of fused attention; 0 when not known.
double fused_flops(const Facts& facts) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  if (!peaks) return 0;
  const bool is_16_bits = std::ranges::any_of(facts.diagnosis.kernels.calls, [](const DeviceCall& call) {
    return call.work == WorkClass::kMatmul &&
           (call.traits.precision == Precision::kBf16 || call.traits.precision == Precision::kFp16);
  });
  return kReachedShare * (is_16_bits ? peaks->half_flops : peaks->tf32_flops / kProductsForFp32);
}

// The share of `total`, the time of an attention's kernels, that fused ones would take.
double left_when_fused(double flops, double flops_a_second, Nanoseconds total) {
  if (flops <= 0 || flops_a_second <= 0) return kTimeLeft;
  return std::min(1.0, flops / flops_a_second * 1e9 / static_cast<double>(total));
}

bool is_of_product(std::string_view backward_op) {
  return backward_op.find("bmm") != std::string_view::npos || backward_op.find("Bmm") != std::string_view::npos;
}

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<WrittenAttention> attentions = written_attentions(facts);
  if (attentions.empty()) return {};
  std::vector<ForwardStretch> stretches;
  for (const WrittenAttention& attention : attentions) stretches.push_back(attention.stretch);
  const std::vector<BackwardCall> backward = backward_calls_of(facts, stretches);
  const std::vector<std::vector<EventId>> work = work_of_stretches(facts, stretches, backward);

  Edit edit = facts.unobserved;
  CallSum kernels(facts);
  const double flops_a_second = fused_flops(facts), work_of_both = backward.empty() ? 1 : 1 + kBackwardWork;
  for (std::size_t i = 0; i < attentions.size(); ++i) {
    const WrittenAttention& attention = attentions[i];
    Nanoseconds total = 0;
    for (const EventId kernel : work[i]) total += trace.events.duration[kernel];
    if (total <= 0) continue;
    const double left = left_when_fused(work_of_both * attention.flops, flops_a_second, total);
    for (const EventId kernel : work[i]) {
      kernels.add(kernel);
      edit.scale_event(trace, kernel, static_cast<float>(left));
    }
    // The products' own calls stand for the one that remains.
    drop_operators(facts, edit, subtree_end(trace, attention.first_product), attention.last_product);
  }
  for (const BackwardCall& call : backward)
    if (!is_of_product(trace.name(call.op))) drop_operators(facts, edit, call.op, subtree_end(trace, call.op));
  const Nanoseconds likely = facts.saved_by(edit);
  if (kernels.empty() || likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = kernels.longest();
  finding.source = source_line(trace, attentions.front().softmax);
  finding.title = "Attention is written out in many kernels";
  finding.explanation = fmt::format(
      "Written out {} a step, attention takes {} ({:.0f} %) in {}; fused, it would not write its scores to memory.",
      counted(static_cast<double>(attentions.size()) / facts.steps(), "time"), format_time(kernels.time_a_step()),
      facts.percent_of_step(kernels.time_a_step()), counted(kernels.calls_a_step(), "kernel"));
  finding.fix = {"sdpa", "Use scaled_dot_product_attention; models of transformers take attn_implementation=\"sdpa\".",
                 "- weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d) + mask, -1)\n- y = weights @ v\n"
                 "+ y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"};
  return {finding};
}

}  // namespace

extern const Rule kUnfusedAttentionRule;
const Rule kUnfusedAttentionRule = {
    {"unfused_attention", "Attention written out",
     "A batched product, a softmax over what it gives, and a product with that, in one thread with little between "
     "them, "
     "and the backward operators of these.",
     "CPU and CUDA activities; shapes to check that the three fit, and for the cost of a fused kernel.",
     "The steps are replayed with these kernels at what a fused attention takes, and without the host's time for all "
     "but "
     "the products.",
     "Promised and gained, in percent of the step: 57 and 66 (own_attention), 19 and 21 (eager_attention)."},
    find};

}  // namespace telltale
