// Products in 16 bits whose rows do not begin where tensor cores want them to.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/facts.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Whole tiles are what libraries have their best kernels for.
constexpr std::int64_t kPadded = 64;
constexpr std::int64_t kBytes = 2;                            // of an element
constexpr std::size_t kMostSizes = 3;                         // named in the explanation
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;  // of a dimension; beyond it a trace is not to be believed
constexpr double kUncertainty = 0.2;

bool is_odd(std::int64_t size) { return size > 0 && size <= kLargestSize && size % kAlignedElements != 0; }

std::int64_t padded(std::int64_t size) { return (size + kPadded - 1) / kPadded * kPadded; }

// The sizes that are at fault, by the time of the products that have them.
using OddSizes = std::map<std::int64_t, Nanoseconds>;

void note_sizes(OddSizes& sizes, const Trace& trace, const DeviceCall& call) {
  std::vector<std::int64_t> odd;
  for (const Shape& shape : tensor_shapes(texts_of(trace, call.op).shapes))
    for (std::size_t i = shape.size() - std::min<std::size_t>(shape.size(), 2); i < shape.size(); ++i)
      if (is_odd(shape[i]) && std::ranges::find(odd, shape[i]) == odd.end()) odd.push_back(shape[i]);
  for (const std::int64_t size : odd) sizes[size] += trace.events.duration[call.event];
}

std::vector<std::int64_t> worst_first(const OddSizes& sizes) {
  std::vector<std::int64_t> order;
  for (const auto& [size, time] : sizes) order.push_back(size);
  std::ranges::sort(order, std::ranges::greater{}, [&](std::int64_t size) { return std::pair(sizes.at(size), size); });
  return order;
}

// "M × N × K = 4096 × 50257 × 768"; empty without shapes.
std::string product_in_words(const Trace& trace, EventId kernel) {
  std::vector<Shape> matrices = tensor_shapes(texts_of(trace, trace.operator_of(kernel)).shapes);
  std::erase_if(matrices, [](const Shape& shape) { return shape.size() < 2; });
  if (matrices.size() < 2) return {};
  const Shape &a = matrices.end()[-2], &b = matrices.back();
  return fmt::format("M × N × K = {} × {} × {}", a.end()[-2], b.back(), a.back());
}

std::string change_of(const std::vector<std::int64_t>& sizes) {
  if (sizes.empty()) return fmt::format("- width = n\n+ width = (n + {}) // {} * {}", kPadded - 1, kPadded, kPadded);
  return fmt::format("- width = {}\n+ width = {}  # the next multiple of {}", sizes.front(), padded(sizes.front()),
                     kPadded);
}

std::vector<Finding> find(const Facts& facts) {
  Edit edit = facts.unobserved;
  CallSum products(facts);
  OddSizes odd;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (!is_misaligned_product(facts, call)) continue;
    edit.scale_event(facts.trace, call.event, kTimeLeftByPadding);
    products.add(call.event);
    note_sizes(odd, facts.trace, call);
  }
  if (products.empty()) return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = odd.empty() ? Confidence::kMedium : Confidence::kHigh;
  finding.evidence = products.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = fmt::format("Matrix widths are not multiples of {}", kAlignedElements);
  finding.explanation =
      fmt::format("Matrix products in 16 bits take {} in {}, because rows do not start at multiples of {} bytes.",
                  time_and_share(facts, products.time_per_step()), counted(products.calls_per_step(), "slow kernel"),
                  kBytes * kAlignedElements);
  const std::vector<std::int64_t> sizes = worst_first(odd);
  if (const std::string longest = product_in_words(facts.trace, finding.evidence.front()); !longest.empty())
    finding.explanation += fmt::format(" The longest is {}.", longest);
  std::vector<std::string> pads;
  for (std::size_t i = 0; i < std::min(sizes.size(), kMostSizes); ++i)
    pads.push_back(fmt::format("{} to {}", sizes[i], padded(sizes[i])));
  finding.fix = {"pad_dims",
                 fmt::format("Pad the widths of the layers to multiples of {}{}.", kPadded,
                             pads.empty() ? "" : ": " + listed(pads)),
                 change_of(sizes)};
  return {finding};
}

}  // namespace

Rule rules::misaligned_dims() {
  return {{.title = "Matrix products with odd widths",
           .looks_for =
               fmt::format("Matrix products in bfloat16 or fp16 that run in the kernels that libraries keep for rows "
                           "that do not start at multiples of {} bytes, because a dimension is not a multiple of {}.",
                           kBytes * kAlignedElements, kAlignedElements),
           .needs = "CUDA activities; shapes to name the dimensions.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = fmt::format("The steps are replayed with these kernels at {:.0f} % of their time, which is what "
                                 "padding left of them in other programs.",
                                 100 * kTimeLeftByPadding),
           .held = "In 4 programs the median error was 1.4 points of the step and the largest 3 (eager_attention: "
                   "predicted 11, measured 14).",
           .fixes = {"pad_dims"}},
          find};
}

}  // namespace telltale
