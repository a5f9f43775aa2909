// Norms written out as means, roots and products, where one kernel does it.
#include <fmt/format.h>

#include <algorithm>

#include "advise/call_sum.h"
#include "advise/norm_pattern.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// A fused norm reads its tensor about twice and writes it once; its backward pass moves twice as much. At this share of
// the device's bandwidth.
constexpr double kForwardPasses = 3, kBackwardPasses = 6, kReachedBandwidth = 0.5;
// Without shapes or peaks: what that was of an RMSNorm in bfloat16.
constexpr double kTimeLeft = 0.25;
constexpr double kUncertainty = 0.2;

double left_when_fused(const Facts& facts, const WrittenNorm& norm, bool has_backward, Nanoseconds total) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  if (norm.bytes <= 0 || !peaks || peaks->memory_bytes <= 0) return kTimeLeft;
  const double bytes = norm.bytes * (kForwardPasses + (has_backward ? kBackwardPasses : 0));
  return std::min(1.0, bytes / (kReachedBandwidth * peaks->memory_bytes) * 1e9 / static_cast<double>(total));
}

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<WrittenNorm> norms = written_norms(facts);
  if (norms.empty()) return {};
  std::vector<ForwardStretch> stretches;
  for (const WrittenNorm& norm : norms) stretches.push_back(norm.stretch);
  const std::vector<BackwardCall> backward = backward_calls_of(facts, stretches);
  const std::vector<std::vector<EventId>> work = work_of_stretches(facts, stretches, backward);

  Edit edit = facts.unobserved;
  CallSum kernels(facts);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    Nanoseconds total = 0;
    for (const EventId kernel : work[i]) total += trace.events.duration[kernel];
    if (total <= 0) continue;
    const double left = left_when_fused(facts, norms[i], !backward.empty(), total);
    for (const EventId kernel : work[i]) {
      kernels.add(kernel);
      edit.scale_event(trace, kernel, static_cast<float>(left));
    }
    // What precedes the root stands for the one call that remains.
    drop_operators(facts, edit, norms[i].root, stretches[i].end);
  }
  std::vector<bool> has_call(norms.size());  // of the backward pass: one remains
  for (const BackwardCall& call : backward) {
    if (has_call[call.stretch]) drop_operators(facts, edit, call.op, subtree_end(trace, call.op));
    has_call[call.stretch] = true;
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (kernels.empty() || likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = trace.recorded.shapes ? Confidence::kHigh : Confidence::kLow;
  finding.evidence = kernels.longest();
  finding.source = source_line(trace, norms.front().root);
  finding.title = "Norms are written out in many kernels";
  finding.explanation = fmt::format(
      "Written out {} a step, norms take {} ({:.0f} %) in {}, most of which pass the whole tensor through memory.",
      counted(static_cast<double>(norms.size()) / facts.steps(), "time"), format_time(kernels.time_a_step()),
      facts.percent_of_step(kernels.time_a_step()), counted(kernels.calls_a_step(), "kernel"));
  finding.fix = {"fuse_norm", "Use torch's own norm, which is one kernel a pass.",
                 "- x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight\n"
                 "+ F.rms_norm(x, x.shape[-1:], weight, eps)  # or F.layer_norm"};
  return {finding};
}

}  // namespace

extern const Rule kUnfusedNormRule;
const Rule kUnfusedNormRule = {
    {"unfused_norm", "Norms written out",
     "A mean or a variance, its root, and a product with or division by that of a tensor of the first one's size, one "
     "after another in one thread, with what prepares and finishes them, and the backward operators of these.",
     "CPU and CUDA activities; shapes to tell what belongs to the norm, and for the cost of a fused kernel.",
     "The steps are replayed with these kernels at three passes over the tensor at half of the device's bandwidth, six "
     "more in the backward pass, and with the host's time of one operator.",
     "Promised and gained, in percent of the step: 52 and 55 (norm_in_pieces)."},
    find};

}  // namespace telltale
