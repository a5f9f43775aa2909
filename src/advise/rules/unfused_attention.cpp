// Attention written out as products and a softmax, where one kernel does it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "advise/facts.h"
#include "advise/models/attention_model.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/forward_stretch.h"
#include "advise/patterns/time_between_nodes.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Attention that is written out: a batched product, a softmax of it, and a product with that.
struct WrittenAttention {
  ForwardStretch stretch;                        // from the first product to the end of the second
  EventId first_product, softmax, last_product;  // operators; products with what surrounds them (aten::matmul, einsum)
  std::optional<AttentionSize> size;             // nothing without shapes
};

// Kernels between a product and the softmax: scale, mask, bias, casts, dropout.
constexpr std::size_t kMostBetween = 10;

enum class Part : std::uint8_t { kNone, kProduct, kSoftmax };

Part part_of(std::string_view op) {
  if (op == "aten::bmm" || op == "aten::baddbmm") return Part::kProduct;
  return op == "aten::_softmax" ? Part::kSoftmax : Part::kNone;
}

// [batch, rows, inner] × [batch, inner, columns]
struct BatchedProduct {
  double batch = 0, rows = 0, inner = 0, columns = 0;
};

std::optional<BatchedProduct> product_of(const Trace& trace, EventId op) {
  std::vector<Shape> shapes = tensor_shapes(texts_of(trace, op).shapes);
  std::erase_if(shapes, [](const Shape& shape) { return shape.size() != 3; });
  if (shapes.size() < 2) return {};
  const Shape &a = shapes.end()[-2], &b = shapes.back();
  const auto number = [](std::int64_t size) { return static_cast<double>(size); };
  return BatchedProduct{number(a[0]), number(a[1]), number(a[2]), number(b[2])};
}

// Whether the softmax is over what the first product gives and the last one takes; true where shapes do not tell.
bool fits(const Trace& trace, EventId first, EventId softmax, EventId last) {
  const std::vector<Shape> shapes = tensor_shapes(texts_of(trace, softmax).shapes);
  const std::optional<BatchedProduct> scores = product_of(trace, first), mixed = product_of(trace, last);
  if (shapes.empty() || !scores || !mixed) return true;
  const double elements = elements_of(shapes.front());
  return elements == scores->batch * scores->rows * scores->columns &&
         (elements == mixed->batch * mixed->rows * mixed->inner ||
          elements == mixed->batch * mixed->inner * mixed->columns);
}

// Whether an operator takes a mask with a row for each query that all heads share: who attends to what, not where the
// padding is nor how far apart two positions are. Such masks are causal.
bool has_mask_of_rows(const Trace& trace, EventId op, const BatchedProduct& scores) {
  return std::ranges::any_of(tensor_shapes(texts_of(trace, op).shapes), [&](const Shape& shape) {
    return shape.size() >= 2 && static_cast<double>(shape.end()[-2]) == scores.rows &&
           static_cast<double>(shape.back()) == scores.columns && (shape.size() == 2 || shape.end()[-3] == 1) &&
           elements_of(shape) < scores.batch * scores.rows * scores.columns;
  });
}

// Finds attentions in the order of their softmax. None within scaled_dot_product_attention, which may write attention
// out as well.
class Search {
 public:
  explicit Search(const Facts& facts) : facts_(facts) {}

  std::vector<WrittenAttention> run() {
    const Trace& trace = facts_.trace;
    std::vector<Part> parts(trace.strings.size());
    for (StringId name = 0; name < parts.size(); ++name) parts[name] = part_of(trace.strings[name]);
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (trace.events.kind[event] != Kind::kOperator) continue;
      const Part part = parts[trace.events.name[event]];
      if (part == Part::kNone || !facts_.is_in_steps(event) || is_within_fused_call(event)) continue;
      if (part == Part::kSoftmax)
        take_softmax(event);
      else
        take_product(event);
    }
    return std::move(found_);
  }

 private:
  bool is_within_fused_call(EventId event) const {
    const Trace& trace = facts_.trace;
    for (EventId op = trace.ancestor(event, Kind::kOperator); op != kNoEvent; op = trace.ancestor(op, Kind::kOperator))
      if (trace.name(op).find("scaled_dot_product") != std::string_view::npos) return true;
    return false;
  }

  bool are_near(EventId before, EventId after) const {
    if (before == kNoEvent || facts_.trace.events.track[before] != facts_.trace.events.track[after]) return false;
    return facts_.launched.of_range(subtree_end(facts_.trace, before), after).size() <= kMostBetween;
  }

  void take_softmax(EventId softmax) {
    softmax_ = are_near(product_, softmax) ? softmax : kNoEvent;
    scores_ = product_;
  }

  void take_product(EventId product) {
    const bool completes =
        softmax_ != kNoEvent && are_near(softmax_, product) && fits(facts_.trace, scores_, softmax_, product);
    if (completes) add(scores_, softmax_, product);
    softmax_ = kNoEvent;
    product_ = completes ? kNoEvent : product;  // what ends one attention begins no other
  }

  void add(EventId scores, EventId softmax, EventId mixed) {
    const Trace& trace = facts_.trace;
    WrittenAttention attention;
    attention.first_product = outermost_operator_apart(trace, scores, softmax);
    attention.softmax = softmax;
    attention.last_product = outermost_operator_apart(trace, mixed, softmax);
    attention.stretch = {attention.first_product, subtree_end(trace, attention.last_product)};
    if (const std::optional<BatchedProduct> product = product_of(trace, scores)) {
      attention.size = AttentionSize{product->batch, product->rows, product->columns, product->inner, false};
      for (EventId op = attention.first_product; op < softmax && product->rows > 1; ++op)
        if (trace.events.kind[op] == Kind::kOperator && has_mask_of_rows(trace, op, *product))
          attention.size->is_causal = true;
    }
    found_.push_back(attention);
  }

  const Facts& facts_;
  EventId product_ = kNoEvent;  // the last one
  EventId scores_ = kNoEvent, softmax_ = kNoEvent;
  std::vector<WrittenAttention> found_;
};

constexpr double kUncertainty = 0.2;

// What an attention's kernels take, and how its products multiply.
struct TimeOfKernels {
  Nanoseconds all = 0, products = 0;
  bool is_in_16_bits = false;
};

TimeOfKernels time_of(const Facts& facts, const std::vector<EventId>& kernels) {
  const std::vector<DeviceCall>& calls = facts.diagnosis.kernels.calls;
  TimeOfKernels time;
  for (const EventId kernel : kernels) {
    const Nanoseconds duration = facts.trace.events.duration[kernel];
    time.all += duration;
    const auto call = std::ranges::lower_bound(calls, kernel, {}, &DeviceCall::event);
    if (call == calls.end() || call->event != kernel || call->work != WorkClass::kMatmul) continue;
    time.products += duration;
    time.is_in_16_bits =
        time.is_in_16_bits || call->traits.precision == Precision::kBf16 || call->traits.precision == Precision::kFp16;
  }
  return time;
}

// The share of its kernels' time that fused ones would take. Without shapes or peaks, that of the products: the fused
// kernel multiplies as much, and next to nothing else.
double left_when_fused(const Facts& facts, const WrittenAttention& attention, const TimeOfKernels& time,
                       bool has_backward) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  double seconds = 0;
  if (peaks && attention.size) {
    seconds = fused_attention_seconds(*attention.size, AttentionPass::kForward, time.is_in_16_bits, *peaks);
    if (has_backward)
      seconds += fused_attention_seconds(*attention.size, AttentionPass::kBackward, time.is_in_16_bits, *peaks);
  }
  const double left = seconds > 0 ? seconds * 1e9 : static_cast<double>(time.products);
  return std::min(1.0, left / static_cast<double>(time.all));
}

bool is_of_product(std::string_view backward_op) {
  return backward_op.find("bmm") != std::string_view::npos || backward_op.find("Bmm") != std::string_view::npos;
}

// The host's time for all but the first product, whose own calls and those of its gradients stand for the fused ones: a
// launch forward, and a few backward. Nodes of the backward pass go with what autograd's engine does for each and
// between them.
void drop_calls(const Facts& facts, std::span<const WrittenAttention> attentions,
                std::span<const BackwardCall> backward, Edit& edit) {
  const Trace& trace = facts.trace;
  for (const WrittenAttention& attention : attentions)
    drop_operators(facts, edit, subtree_end(trace, attention.first_product), attention.stretch.end);
  for (const BackwardCall& call : backward) {
    const EventId product = attentions[call.stretch].first_product, cause = trace.events.cause[call.op];
    const bool is_of_first = cause >= product && cause < subtree_end(trace, product);
    if (is_of_first && is_of_product(trace.name(call.op))) continue;
    const EventId around = trace.events.parent[call.op];
    const bool is_by_engine = around != kNoEvent && trace.name(around).starts_with(kEngineCall);
    const EventId first = is_by_engine ? around : call.op;
    drop_operators(facts, edit, first, subtree_end(trace, first));
  }
  shorten_by(facts, time_between_nodes(facts, edit), edit);
}

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<WrittenAttention> attentions = Search(facts).run();
  if (attentions.empty()) return {};
  std::vector<ForwardStretch> stretches;
  for (const WrittenAttention& attention : attentions) stretches.push_back(attention.stretch);
  const std::vector<BackwardCall> backward = backward_calls_of(facts, stretches);
  const std::vector<std::vector<EventId>> work = work_of_stretches(facts, stretches, backward);

  Edit edit = facts.unobserved;
  CallSum kernels(facts);
  for (std::size_t i = 0; i < attentions.size(); ++i) {
    const WrittenAttention& attention = attentions[i];
    const TimeOfKernels time = time_of(facts, work[i]);
    if (time.all <= 0) continue;
    const double left = left_when_fused(facts, attention, time, !backward.empty());
    for (const EventId kernel : work[i]) {
      kernels.add(kernel);
      edit.scale_event(trace, kernel, static_cast<float>(left));
    }
  }
  drop_calls(facts, attentions, backward, edit);
  const Nanoseconds likely = facts.saved_by(edit);
  if (kernels.empty() || likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = kernels.longest();
  finding.source = source_line(trace, attentions.front().softmax);
  finding.title = "Attention runs as many separate kernels";
  finding.explanation = fmt::format(
      "Written out {} per step, attention takes {} ({}) in {}; fused, it would never write its scores to memory.",
      how_often(static_cast<double>(attentions.size()) / facts.steps()), format_time(kernels.time_per_step()),
      format_percent(facts.percent_of_step(kernels.time_per_step())), counted(kernels.calls_per_step(), "kernel"));
  finding.fix = {"sdpa", "Use scaled_dot_product_attention; transformers models take attn_implementation=\"sdpa\".",
                 "- weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d) + mask, -1)\n- y = weights @ v\n"
                 "+ y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"};
  return {finding};
}

}  // namespace

Rule rules::unfused_attention() {
  return {{.title = "Attention written out",
           .looks_for = "A batched matrix product, a softmax of its result, and a product with that, on one thread "
                        "with little in between, and their backward operators.",
           .needs = "CPU and CUDA activities; shapes, to check that the three fit together and to know what a fused "
                    "kernel costs.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed with these kernels at what fused attention takes for tensors of these "
                     "sizes, half of it under a causal mask, and without the host's time for everything but the "
                     "first product. Without shapes, fused attention is taken to need as long as the products alone.",
           .held = "Predicted and measured savings, in percent of the step: 61 and 66 (own_attention), 26 and 21 "
                   "(eager_attention), 54 and 60 (llama_eager_attention).",
           .fixes = {"sdpa"}},
          find};
}

}  // namespace telltale
