#include "advise/patterns/device_work.h"

#include <algorithm>

#include "trace/shapes.h"

namespace telltale {
namespace {

// Kernels that CUDA's libraries keep for rows that do not start at multiples of 16 bytes: an older instruction, or the
// alignment spelled out in elements.
bool has_name_of_misaligned(std::string_view kernel) {
  for (const std::string_view part : {"s1688gemm", "_align1", "_align2", "_align4", "aligna1", "aligna2", "aligna4"})
    if (kernel.find(part) != std::string_view::npos) return true;
  return false;
}

// What large kernels reach of their roofline.
constexpr double kReachedRoofline = 0.5;

bool is_odd(const Shape& shape) {
  return std::any_of(shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)), shape.end(),
                     [](std::int64_t size) { return size % kAlignedElements != 0; });
}

}  // namespace

std::vector<EventId> CallSum::longest() const {
  const auto& durations = facts_.trace.events.duration;
  std::vector<EventId> longest(std::min(calls_.size(), Finding::kMaxEvidence));
  std::ranges::partial_sort_copy(calls_, longest, [&](EventId a, EventId b) {
    return durations[a] != durations[b] ? durations[a] > durations[b] : a < b;
  });
  return longest;
}

float filled_share(const Facts& facts, const DeviceCall& call) {
  const KernelInfo* const kernel = facts.trace.kernels.find(call.event);
  const float blocks = kernel == nullptr ? -1 : facts.trace.kernel_launches[kernel->launch].blocks_per_multiprocessor;
  if (blocks >= 0) return std::min(1.0F, blocks);
  const auto seconds = static_cast<double>(facts.trace.events.duration[call.event]) / 1e9;
  if (!call.roofline_seconds || seconds <= 0) return 0;
  return static_cast<float>(std::min(1.0, *call.roofline_seconds / kReachedRoofline / seconds));
}

bool computes_in_float64(const Facts& facts, const DeviceCall& call) {
  if (facts.trace.events.kind[call.event] != Kind::kKernel) return false;
  const OperatorTexts texts = texts_of(facts.trace, call.op);
  const std::vector<Shape> shapes = tensor_shapes(texts.shapes);
  const std::vector<std::string> types = concrete_values(texts.types);
  bool has_tensors = false, has_float64 = false, has_others = false;
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    if (shapes[i].empty()) continue;  // a number, which takes the type of the tensors beside it, or a list
    const Precision precision = precision_of_type(types[i]);
    has_tensors = true;
    has_float64 = has_float64 || precision == Precision::kFp64;
    has_others = has_others || (precision != Precision::kFp64 && precision != Precision::kUnknown);
  }
  if (has_tensors) return has_float64 && !has_others;
  return call.traits.precision == Precision::kFp64;
}

bool is_layout_conversion(std::string_view kernel) {
  return kernel.contains("nchwToNhwc") || kernel.contains("nhwcToNchw");
}

bool is_batch_norm_in_nchw(std::string_view kernel) {
  if (kernel.contains("bn_fw_tr_1C11") || kernel.contains("bn_bw_1C11")) return true;
  return kernel.contains("at::native::batch_norm_") && !kernel.contains("channels_last");
}

bool is_misaligned_product(const Facts& facts, const DeviceCall& call) {
  if (call.work != WorkClass::kMatmul) return false;
  if (call.traits.precision != Precision::kBf16 && call.traits.precision != Precision::kFp16) return false;
  if (!has_name_of_misaligned(facts.trace.name(call.event))) return false;
  const std::vector<Shape> shapes = tensor_shapes(texts_of(facts.trace, call.op).shapes);
  return shapes.empty() || std::any_of(shapes.begin(), shapes.end(), is_odd);
}

}  // namespace telltale
