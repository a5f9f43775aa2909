#include "analysis/operator_arguments.h"

#include <algorithm>
#include <array>
#include <span>

#include "analysis/kernel_traits.h"

namespace telltale {

Elements elements_of(std::span<const std::int64_t> shape) {
  Elements elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(std::max<std::int64_t>(size, 0));
  return elements;
}

OperatorArguments::OperatorArguments(const OperatorTexts& texts)
    : shapes_(tensor_shapes(texts.shapes)),
      strides_(tensor_shapes(texts.strides)),
      types_(concrete_values(texts.types)),
      values_(concrete_values(texts.concrete)) {}

int OperatorArguments::element_bytes(std::size_t i) const { return i < types_.size() ? bytes_of_type(types_[i]) : 0; }

double OperatorArguments::bytes(std::size_t i) const {
  const Shape& sizes = shape(i);
  const bool has_strides = i < strides_.size() && strides_[i].size() == sizes.size();
  Elements elements = elements_of(sizes);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    if (has_strides && strides_[i][axis] == 0 && sizes[axis] > 1) elements /= static_cast<double>(sizes[axis]);
  return elements * element_bytes(i);
}

double OperatorArguments::bytes_of_first(std::size_t count) const {
  double total = 0;
  for (std::size_t i = 0; i < std::min(count, size()); ++i) total += bytes(i);
  return total;
}

std::optional<double> OperatorArguments::bytes_moved(std::size_t inputs, Elements written, std::size_t like) const {
  if (element_bytes(like) == 0) return std::nullopt;
  return bytes_of_first(inputs) + written * element_bytes(like);
}

namespace {

constexpr auto kElementwise = std::to_array<std::string_view>({
    "abs",
    "add",
    "addcdiv",
    "addcmul",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "cos",
    "div",
    "elu",
    "eq",
    "erf",
    "exp",
    "floor",
    "floor_divide",
    "ge",
    "gelu",
    "gelu_backward",
    "gt",
    "hardswish",
    "hardtanh",
    "isinf",
    "isnan",
    "le",
    "leaky_relu",
    "leaky_relu_backward",
    "lerp",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mish",
    "mul",
    "native_dropout_backward",
    "ne",
    "neg",
    "pow",
    "reciprocal",
    "relu",
    "remainder",
    "round",
    "rsqrt",
    "rsub",
    "sigmoid",
    "sigmoid_backward",
    "sign",
    "silu",
    "silu_backward",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "sub",
    "tanh",
    "tanh_backward",
    "threshold",
    "threshold_backward",
    "where",
});
constexpr auto kAnsweringBool = std::to_array<std::string_view>(
    {"eq", "ge", "gt", "isinf", "isnan", "le", "logical_and", "logical_not", "logical_or", "lt", "ne"});
// They write their first argument without reading it.
constexpr auto kFilling =
    std::to_array<std::string_view>({"bernoulli_", "fill_", "normal_", "random_", "uniform_", "zero_"});
constexpr auto kReducing =
    std::to_array<std::string_view>({"amax", "amin", "any", "argmax", "argmin", "linalg_vector_norm", "max", "mean",
                                     "min", "norm", "prod", "std", "sum", "var"});
// Their result has the shape and type of the first argument.
constexpr auto kKeepingShape = std::to_array<std::string_view>({
    "_fused_rms_norm",
    "_fused_rms_norm_backward",
    "_log_softmax",
    "_log_softmax_backward_data",
    "_softmax",
    "_softmax_backward_data",
    "cudnn_batch_norm",
    "cudnn_batch_norm_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
});
static_assert(std::ranges::is_sorted(kElementwise) && std::ranges::is_sorted(kAnsweringBool));
static_assert(std::ranges::is_sorted(kFilling) && std::ranges::is_sorted(kReducing));
static_assert(std::ranges::is_sorted(kKeepingShape));

bool is_one_of(std::span<const std::string_view> sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

// The shape that all arguments are stretched to.
Shape broadcast(const OperatorArguments& arguments) {
  Shape result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = arguments.shape(i);
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    const std::size_t offset = result.size() - shape.size();
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      result[offset + axis] = std::max(result[offset + axis], shape[axis]);
  }
  return result;
}

// Of a result of several types: the widest tensor's. A number, which torch records as a tensor of no dimensions, does
// not count beside one that has some.
int widest_element(const OperatorArguments& arguments) {
  int widest = 0, widest_number = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    int& known = arguments.shape(i).empty() ? widest_number : widest;
    known = std::max(known, arguments.element_bytes(i));
  }
  return widest > 0 ? widest : widest_number;
}

std::optional<double> elementwise_bytes(const OperatorArguments& arguments, std::string_view name, bool is_in_place) {
  const double read = arguments.bytes_of_first(arguments.size());
  if (read == 0) return std::nullopt;
  if (is_in_place) return read + arguments.bytes(0);
  const int element = is_one_of(kAnsweringBool, name) ? 1 : widest_element(arguments);
  return read + elements_of(broadcast(arguments)) * element;
}

std::optional<double> reduced_bytes(const OperatorArguments& arguments) {
  if (arguments.element_bytes(0) == 0) return std::nullopt;
  Shape left = arguments.shape(0);
  const Shape axes = arguments.numbers(1);
  for (const std::int64_t axis : axes) {
    const auto rank = static_cast<std::int64_t>(left.size());
    const std::int64_t index = axis < 0 ? axis + rank : axis;
    if (index >= 0 && index < rank) left[static_cast<std::size_t>(index)] = 1;
  }
  return arguments.bytes(0) + (axes.empty() ? 1 : elements_of(left)) * arguments.element_bytes(0);
}

}  // namespace

std::optional<double> moved_bytes(std::string_view name, const OperatorArguments& arguments) {
  if (is_one_of(kFilling, name)) {
    const double written = arguments.bytes(0);
    return written > 0 ? std::optional(written) : std::nullopt;
  }
  if (name == "copy_") {
    if (arguments.element_bytes(0) == 0 || arguments.element_bytes(1) == 0) return std::nullopt;
    return arguments.bytes(0) + arguments.bytes(1);
  }
  const bool is_in_place = name.ends_with('_');
  if (is_in_place) name.remove_suffix(1);
  if (is_one_of(kElementwise, name)) return elementwise_bytes(arguments, name, is_in_place);
  if (is_one_of(kReducing, name)) return reduced_bytes(arguments);
  if (name == "native_dropout") {  // its mask is written too, a byte an element
    const auto without_mask = arguments.bytes_moved(1, elements_of(arguments.shape(0)), 0);
    return without_mask ? std::optional(*without_mask + elements_of(arguments.shape(0))) : std::nullopt;
  }
  if (!is_one_of(kKeepingShape, name)) return std::nullopt;
  return arguments.bytes_moved(arguments.size(), elements_of(arguments.shape(0)), 0);
}

}  // namespace telltale
