// Norms written out as means, roots and products, where one kernel does it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "advise/facts.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/forward_stretch.h"
#include "advise/rule.h"
#include "analysis/kernel_traits.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// A norm that is written out: a mean of squares or a variance, its root, and a tensor divided by that.
struct WrittenNorm {
  ForwardStretch stretch;
  EventId root = kNoEvent;  // the operator that takes the square root
  double bytes = 0;         // of the tensor in the narrower of its types; 0 without shapes
};

// Operators between the mean and the root (adding epsilon, a clamp), and between the root and the division.
constexpr std::size_t kMostBetween = 3;

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool takes_root(std::string_view op) { return op == "aten::rsqrt" || op == "aten::sqrt" || op == "aten::std"; }
bool averages(std::string_view op) {
  constexpr auto kNames = std::to_array<std::string_view>({"aten::mean", "aten::var", "aten::var_mean", "aten::std"});
  return is_among(op, kNames);
}
bool divides(std::string_view op) { return op == "aten::mul" || op == "aten::div"; }
// What may stand before the mean, on the way to it, and after the division.
bool prepares(std::string_view op) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"aten::pow", "aten::square", "aten::sub", "aten::mean", "aten::copy_"});
  return is_among(op, kNames);
}
bool finishes(std::string_view op) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"aten::mul", "aten::div", "aten::sub", "aten::add", "aten::copy_"});
  return is_among(op, kNames);
}

// An operator that launches, and the tensors that it takes.
struct Call {
  EventId op = kNoEvent;
  double largest = 0, second = 0;  // elements; 0 without shapes
  double bytes_each = 0;           // of the narrowest of its larger tensors
};

Call call_of(const Trace& trace, EventId op) {
  Call call;
  call.op = op;
  const OperatorTexts texts = texts_of(trace, op);
  const std::vector<Shape> shapes = tensor_shapes(texts.shapes);
  const std::vector<std::string> types = concrete_values(texts.types);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double elements = shapes[i].empty() ? 0 : elements_of(shapes[i]);
    if (elements <= call.second) continue;
    call.second = std::min(elements, call.largest);
    call.largest = std::max(elements, call.largest);
  }
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    const int bytes = bytes_of_type(types[i]);
    const bool is_whole = !shapes[i].empty() && elements_of(shapes[i]) == call.largest;
    if (is_whole && bytes > 0 && (call.bytes_each == 0 || bytes < call.bytes_each)) call.bytes_each = bytes;
  }
  return call;
}

// Finds norms in the order of their roots.
class Search {
 public:
  explicit Search(const Facts& facts) : facts_(facts) {
    for (const DeviceCall& call : facts.diagnosis.kernels.calls)
      if (call.op != kNoEvent && call.work != WorkClass::kOptimizer) ops_.push_back(call.op);
    std::ranges::sort(ops_);
    ops_.erase(std::ranges::unique(ops_).begin(), ops_.end());
  }

  std::vector<WrittenNorm> run() {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (takes_root(name(i)) && facts_.phases[ops_[i]] != Phase::kOptimizer) try_root(i);
    return std::move(found_);
  }

 private:
  std::string_view name(std::size_t i) const { return facts_.trace.name(ops_[i]); }
  bool are_together(std::size_t i, std::size_t j) const {
    return facts_.trace.events.track[ops_[i]] == facts_.trace.events.track[ops_[j]];
  }
  Call call(std::size_t i) const { return call_of(facts_.trace, ops_[i]); }

  void try_root(std::size_t root) {
    const std::optional<std::size_t> mean = mean_before(root), division = division_after(root);
    if (!mean || !division) return;
    const double size = call(*mean).largest;
    if (call(*division).largest != size) return;
    const std::size_t first = first_before(*mean, size), last = last_after(*division, size);
    WrittenNorm norm;
    norm.root = ops_[root];
    norm.stretch.first = outermost_operator_apart(facts_.trace, ops_[first], first == root ? ops_[last] : norm.root);
    norm.stretch.end = subtree_end(facts_.trace, outermost_operator_apart(facts_.trace, ops_[last], norm.root));
    if (!found_.empty() && norm.stretch.first < found_.back().stretch.end) return;
    double bytes_each = 0;
    for (std::size_t i = first; i <= last; ++i)
      if (const Call part = call(i); part.largest == size && part.bytes_each > 0)
        bytes_each = bytes_each == 0 ? part.bytes_each : std::min(bytes_each, part.bytes_each);
    norm.bytes = size * bytes_each;
    found_.push_back(norm);
  }

  std::optional<std::size_t> mean_before(std::size_t root) const {
    for (std::size_t back = 0; back <= kMostBetween && back <= root; ++back)
      if (averages(name(root - back)) && are_together(root - back, root)) return root - back;
    return {};
  }
  std::optional<std::size_t> division_after(std::size_t root) const {
    for (std::size_t i = root + 1; i < ops_.size() && i <= root + kMostBetween && are_together(i, root); ++i)
      if (divides(name(i))) return i;
    return {};
  }

  std::size_t first_before(std::size_t mean, double size) const {
    std::size_t first = mean;
    const auto is_square = [&](std::size_t i) { return i + 1 == mean && name(i) == "aten::mul"; };
    while (first > 0 && are_together(first - 1, mean) && (prepares(name(first - 1)) || is_square(first - 1)) &&
           call(first - 1).largest == size)
      --first;
    return first;
  }
  // Sums of two whole tensors are not the norm's: a residual that is added.
  std::size_t last_after(std::size_t division, double size) const {
    std::size_t last = division;
    while (last + 1 < ops_.size() && are_together(last + 1, division) && finishes(name(last + 1))) {
      const Call next = call(last + 1);
      if (next.largest != size || (name(last + 1) != "aten::copy_" && next.second == next.largest)) break;
      ++last;
    }
    return last;
  }

  const Facts& facts_;
  std::vector<EventId> ops_;  // that launch, by thread and time
  std::vector<WrittenNorm> found_;
};

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
  const std::vector<WrittenNorm> norms = Search(facts).run();
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
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = trace.recorded.shapes ? Confidence::kHigh : Confidence::kLow;
  finding.evidence = kernels.longest();
  finding.source = source_line(trace, norms.front().root);
  finding.title = "Normalization runs as many separate kernels";
  finding.explanation = fmt::format(
      "Written out {} per step, normalization takes {} ({}) in {}, most of which pass the whole tensor through memory.",
      how_often(static_cast<double>(norms.size()) / facts.steps()), format_time(kernels.time_per_step()),
      format_percent(facts.percent_of_step(kernels.time_per_step())), counted(kernels.calls_per_step(), "kernel"));
  finding.fix = {"fuse_norm", "Use torch's own norm, which is one kernel per pass.",
                 "- x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight\n"
                 "+ F.rms_norm(x, x.shape[-1:], weight, eps)  # or F.layer_norm"};
  return {finding};
}

}  // namespace

Rule rules::unfused_norm() {
  return {
      {.title = "Normalization written out",
       .looks_for = "A mean or a variance, its root, and a tensor of the same size multiplied or divided by that, one "
                    "after another on one thread, with what prepares and finishes them, and their backward operators.",
       .needs =
           "CPU and CUDA activities; shapes, to tell what belongs to the norm and to know what a fused kernel costs.",
       .cannot_do_without = {{Need::kDevice}},
       .saving =
           fmt::format("The steps are replayed with these kernels at {} passes over the tensor at {:.0f} % of the "
                       "GPU's bandwidth, {} more in the backward pass, and with the host's time for a single operator.",
                       kForwardPasses, 100 * kReachedBandwidth, kBackwardPasses),
       .held = "Predicted and measured savings, in percent of the step: 52 and 55 (norm_in_pieces).",
       .fixes = {"fuse_norm"}},
      find};
}

}  // namespace telltale
