#include "advise/attention_pattern.h"

#include <algorithm>

#include "advise/operator_texts.h"

namespace telltale {
namespace {

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
  double flops() const { return 2 * batch * rows * inner * columns; }
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
    for (const EventId op : {scores, mixed})
      if (const std::optional<BatchedProduct> product = product_of(trace, op)) attention.flops += product->flops();
    found_.push_back(attention);
  }

  const Facts& facts_;
  EventId product_ = kNoEvent;  // the last one
  EventId scores_ = kNoEvent, softmax_ = kNoEvent;
  std::vector<WrittenAttention> found_;
};

}  // namespace

std::vector<WrittenAttention> written_attentions(const Facts& facts) { return Search(facts).run(); }

}  // namespace telltale
