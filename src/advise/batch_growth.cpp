#include "advise/batch_growth.h"

#include <algorithm>
#include <cmath>

#include "advise/operator_texts.h"

namespace telltale {
namespace {

// Products compute whole tiles of rows: fewer take as long.
constexpr double kTileRows = 64;

// [rows, inner] × [inner, columns]
struct Product {
  std::int64_t rows = 0, inner = 0, columns = 0;
};

// Of one matrix with another; a batched product's shapes do not fit.
std::optional<Product> product_of(const Trace& trace, EventId op) {
  std::vector<Shape> matrices = tensor_shapes(texts_of(trace, op).shapes);
  std::erase_if(matrices, [](const Shape& shape) { return shape.size() != 2; });
  if (matrices.size() < 2) return {};
  const Shape &a = matrices.end()[-2], &b = matrices.back();
  if (a[1] != b[0]) return {};
  return Product{a[0], a[1], b[1]};
}

double peak_of(const GpuPeaks& peaks, KernelTraits traits) {
  switch (traits.precision) {
    case Precision::kBf16:
    case Precision::kFp16:
      return peaks.half_flops;
    case Precision::kTf32:
      return peaks.tf32_flops;
    case Precision::kFp32:
      return peaks.fp32_flops;
    default:
      return 0;
  }
}

double bytes_of_element(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kFp16 ? 2 : 4;
}

double seconds_of(const Product& product, const GpuPeaks& peaks, KernelTraits traits) {
  const auto rows = static_cast<double>(product.rows), inner = static_cast<double>(product.inner),
             columns = static_cast<double>(product.columns);
  const double whole_rows = std::ceil(rows / kTileRows) * kTileRows;
  return 2 * whole_rows * inner * columns / peak_of(peaks, traits) +
         (rows * inner + inner * columns + rows * columns) * bytes_of_element(traits.precision) / peaks.memory_bytes;
}

// Operators that parameters and their gradients pass through: casts, fills, sums.
bool may_move_parameters(std::string_view op) {
  return op == "aten::copy_" || op == "aten::fill_" || op == "aten::zero_" || op == "aten::add_";
}

// Blocks that each walk through the whole batch, so that empty multiprocessors do not help: the gradients of embeddings
// and of layer norms' weights. On an H200 both grew with the rows at a fifth of a block a multiprocessor.
bool walks_through_batch(std::string_view kernel) {
  return kernel.find("embedding_backward_feature_kernel") != std::string_view::npos ||
         kernel.find("GammaBeta") != std::string_view::npos;
}

}  // namespace

BatchGrowth::BatchGrowth(const Facts& facts) : facts_(facts) {
  const Trace& trace = facts.trace;
  for (const EventId event : events_named(
           facts, Kind::kOperator, [](std::string_view name) { return name == "torch::autograd::AccumulateGrad"; }))
    for (Shape& shape : tensor_shapes(texts_of(trace, event).shapes))
      if (shape.size() >= 2) parameters_.insert(std::move(shape));
  for (const DeviceCall& call : facts.diagnosis.kernels.calls)
    if (call.work == WorkClass::kMatmul && call.op != kNoEvent && facts.phases[call.op] == Phase::kForward)
      if (const std::optional<Product> product = product_of(trace, call.op)) rows_.insert(product->rows);
}

float BatchGrowth::of(const DeviceCall& call) const {
  if (moves_parameters(call)) return 1;
  if (walks_through_batch(facts_.trace.name(call.event))) return 2;
  const KernelInfo* const kernel = facts_.trace.kernels.find(call.event);
  const float blocks = kernel == nullptr ? -1 : facts_.trace.kernel_launches[kernel->launch].blocks_per_multiprocessor;
  const float when_filled = blocks < 0 ? 2 : 1 + std::min(1.0F, blocks);
  return call.work == WorkClass::kMatmul ? std::min(when_filled, growth_of_product(call)) : when_filled;
}

bool BatchGrowth::moves_parameters(const DeviceCall& call) const {
  if (call.work == WorkClass::kOptimizer) return true;
  if (call.op == kNoEvent || parameters_.empty() || !may_move_parameters(facts_.trace.name(call.op))) return false;
  const std::vector<Shape> shapes = tensor_shapes(texts_of(facts_.trace, call.op).shapes);
  return !shapes.empty() && parameters_.contains(shapes.front());
}

float BatchGrowth::growth_of_product(const DeviceCall& call) const {
  const auto& peaks = facts_.diagnosis.kernels.peaks;
  const std::optional<Product> product = call.op == kNoEvent ? std::nullopt : product_of(facts_.trace, call.op);
  if (!product || !peaks || peak_of(*peaks, call.traits) <= 0 || peaks->memory_bytes <= 0) return 2;
  // In the gradient of a weight the batch is what is summed over.
  Product doubled = *product;
  const bool sums_over_batch = !rows_.contains(product->rows) && rows_.contains(product->inner);
  (sums_over_batch ? doubled.inner : doubled.rows) *= 2;
  const double now = seconds_of(*product, *peaks, call.traits);
  return now > 0 ? static_cast<float>(std::min(2.0, seconds_of(doubled, *peaks, call.traits) / now)) : 2;
}

}  // namespace telltale
