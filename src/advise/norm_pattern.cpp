#include "advise/norm_pattern.h"

#include <algorithm>
#include <array>

#include "advise/operator_texts.h"
#include "analysis/kernel_traits.h"

namespace telltale {
namespace {

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

}  // namespace

std::vector<WrittenNorm> written_norms(const Facts& facts) { return Search(facts).run(); }

}  // namespace telltale
