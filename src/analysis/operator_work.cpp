#include "analysis/operator_work.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "analysis/operator_arguments.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// A multiplication and an addition.
constexpr std::int64_t kOperationsPerMultiplyAdd = 2;

// A product that notices when it leaves the range of its type.
class Product {
 public:
  Product& times(std::int64_t factor) {
    fits_ = fits_ && factor >= 0 && !__builtin_mul_overflow(value_, factor, &value_);
    return *this;
  }
  Product& times(std::span<const std::int64_t> factors) {
    for (const std::int64_t factor : factors) times(factor);
    return *this;
  }
  std::optional<std::int64_t> value() const { return fits_ ? std::optional(value_) : std::nullopt; }

 private:
  std::int64_t value_ = 1;
  bool fits_ = true;
};

// Whether arithmetic on these stays far from overflow; no tensor has a dimension beyond it.
bool are_plausible(std::span<const std::int64_t> numbers) {
  return std::ranges::all_of(numbers, [](std::int64_t n) { return n >= 0 && n < std::int64_t{1} << 31; });
}

std::optional<std::int64_t> convolution_flops(const std::vector<Shape>& shapes, std::string_view concrete) {
  constexpr std::size_t kInput = 0, kWeight = 1, kStride = 3, kPadding = 4, kDilation = 5, kGroups = 6;
  const std::vector<std::string> values = concrete_values(concrete);
  if (shapes.size() <= kWeight || values.size() <= kGroups) return std::nullopt;

  const Shape& input = shapes[kInput];    // batch, channels, height, width
  const Shape& weight = shapes[kWeight];  // output channels, input channels of a group, height, width
  const Shape stride = whole_numbers(values[kStride]);
  const Shape padding = whole_numbers(values[kPadding]);
  const Shape dilation = whole_numbers(values[kDilation]);
  const Shape groups = whole_numbers("[" + values[kGroups] + "]");
  if (input.size() != 4 || weight.size() != 4) return std::nullopt;
  if (stride.size() != 2 || padding.size() != 2 || dilation.size() != 2 || groups.size() != 1) return std::nullopt;
  for (const Shape* numbers : {&input, &weight, &stride, &padding, &dilation, &groups}) {
    if (!are_plausible(*numbers)) return std::nullopt;
  }
  if (groups[0] == 0 || stride[0] == 0 || stride[1] == 0) return std::nullopt;

  Product flops;
  flops.times(kOperationsPerMultiplyAdd).times(input[0]);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = input[axis + 2] + 2 * padding[axis] - dilation[axis] * (weight[axis + 2] - 1) - 1;
    if (reach < 0) return std::nullopt;
    flops.times(reach / stride[axis] + 1).times(weight[axis + 2]);
  }
  const auto all_groups = flops.times(input[1]).times(weight[0]).value();
  if (!all_groups) return std::nullopt;
  return *all_groups / groups[0];
}

std::optional<std::int64_t> matrix_product_flops(const std::vector<Shape>& shapes, std::size_t first, bool is_batched) {
  if (shapes.size() < first + 2) return std::nullopt;
  std::span<const std::int64_t> left = shapes[first];
  const std::size_t shared_dimensions = is_batched ? 2 : 1;  // the inner one, and the batch
  if (left.size() < shared_dimensions) return std::nullopt;
  left = left.first(left.size() - 1);
  if (is_batched) left = left.subspan(1);
  return Product().times(kOperationsPerMultiplyAdd).times(left).times(shapes[first + 1]).value();
}

}  // namespace

FlopFormula flop_formula(std::string_view operator_name) {
  if (operator_name == "aten::conv2d") return FlopFormula::kConvolution2d;
  if (operator_name == "aten::mm") return FlopFormula::kMatrixProduct;
  if (operator_name == "aten::addmm") return FlopFormula::kMatrixProductAdd;
  if (operator_name == "aten::bmm") return FlopFormula::kBatchedProduct;
  if (operator_name == "aten::baddbmm") return FlopFormula::kBatchedProductAdd;
  if (operator_name == "aten::add" || operator_name == "aten::mul") return FlopFormula::kElementwise;
  return FlopFormula::kNone;
}

std::optional<std::int64_t> count_flops(FlopFormula formula, std::string_view shapes, std::string_view concrete) {
  if (formula == FlopFormula::kNone) return std::nullopt;
  const std::vector<Shape> parsed = tensor_shapes(shapes);
  if (parsed.empty()) return std::nullopt;
  switch (formula) {
    case FlopFormula::kConvolution2d:
      return convolution_flops(parsed, concrete);
    case FlopFormula::kMatrixProduct:
      return matrix_product_flops(parsed, 0, false);
    case FlopFormula::kMatrixProductAdd:
      return matrix_product_flops(parsed, 1, false);
    case FlopFormula::kBatchedProduct:
      return matrix_product_flops(parsed, 0, true);
    case FlopFormula::kBatchedProductAdd:
      return matrix_product_flops(parsed, 1, true);
    case FlopFormula::kElementwise:
      return Product().times(parsed[0]).value();
    case FlopFormula::kNone:
      break;
  }
  return std::nullopt;
}

namespace {

constexpr double kFlopsPerMultiplyAdd = 2;
constexpr double kMostPlausible = 1e15;  // no dimension is as long; beyond it, whole numbers may not fit their type

// Rows times columns, of the matrices at `left` and the one after it; both may have a batch in front.
OperatorWork work_of_product(const OperatorArguments& arguments, std::size_t left) {
  const Shape &a = arguments.shape(left), &b = arguments.shape(left + 1);
  if (a.size() < 2 || b.size() != a.size()) return {};
  const double columns = static_cast<double>(b.back());
  const Elements result = elements_of(std::span(a).first(a.size() - 1)) * columns;
  return {kFlopsPerMultiplyAdd * elements_of(a) * columns, arguments.bytes_moved(left + 2, result, left)};
}

OperatorWork work_of_linear(const OperatorArguments& arguments) {
  const Shape &input = arguments.shape(0), &weight = arguments.shape(1);
  if (input.empty() || weight.size() != 2) return {};
  const double columns = static_cast<double>(weight[0]);
  const Elements result = elements_of(std::span(input).first(input.size() - 1)) * columns;
  return {kFlopsPerMultiplyAdd * elements_of(input) * columns, arguments.bytes_moved(3, result, 0)};
}

// Where a convolution's operator has its arguments; kAbsent for those it does not have.
struct ConvolutionPlaces {
  static constexpr std::size_t kAbsent = SIZE_MAX;
  std::string_view name;
  std::size_t stride, padding, dilation, transposed = kAbsent;
  bool is_transposed = false;
};
constexpr ConvolutionPlaces kConvolutions[] = {
    {"aten::convolution", 3, 4, 5, 6},
    {"aten::_convolution", 3, 4, 5, 6},
    {"aten::conv1d", 3, 4, 5},
    {"aten::conv2d", 3, 4, 5},
    {"aten::conv3d", 3, 4, 5},
    {"aten::cudnn_convolution", 3, 2, 4},
    {"aten::cudnn_convolution_relu", 3, 4, 5},
    {"aten::miopen_convolution", 4, 3, 5},
    {"aten::mkldnn_convolution", 4, 3, 5},
    {"aten::_conv_depthwise2d", 4, 5, 6},
    {"aten::conv_depthwise3d", 4, 5, 6},
    {"aten::cudnn_convolution_transpose", 4, 2, 5, ConvolutionPlaces::kAbsent, true},
};

// Every element of the side that a weight's first dimension belongs to (the output; of a transposed convolution the
// input) meets one slice of the weight.
double convolution_flops(const Shape& side, const Shape& weight) {
  return kFlopsPerMultiplyAdd * elements_of(side) * elements_of(std::span(weight).subspan(1));
}

// What a convolution steps over it does not read: of the input of a kernel of one by one with stride two, three
// quarters.
double part_read(const Shape& weight, const Shape& stride) {
  double part = 1;
  for (std::size_t axis = 0; axis < stride.size() && axis + 2 < weight.size(); ++axis)
    if (stride[axis] > weight[axis + 2])
      part *= static_cast<double>(weight[axis + 2]) / static_cast<double>(stride[axis]);
  return part;
}

std::optional<Shape> output_of_convolution(const OperatorArguments& arguments, const ConvolutionPlaces& places,
                                           const Shape& stride) {
  const Shape &input = arguments.shape(0), &weight = arguments.shape(1);
  const Shape padding = arguments.numbers(places.padding), dilation = arguments.numbers(places.dilation);
  const std::size_t axes = input.size() - 2;
  if (stride.size() != axes || padding.size() != axes || dilation.size() != axes) return std::nullopt;
  Shape output = {input[0], weight[0]};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double reach = static_cast<double>(input[axis + 2]) + 2 * static_cast<double>(padding[axis]) -
                         static_cast<double>(dilation[axis]) * static_cast<double>(weight[axis + 2] - 1) - 1;
    if (reach < 0 || reach > kMostPlausible || stride[axis] <= 0) return std::nullopt;
    output.push_back(static_cast<std::int64_t>(reach) / stride[axis] + 1);
  }
  return output;
}

OperatorWork work_of_convolution(const OperatorArguments& arguments, const ConvolutionPlaces& places) {
  const Shape &input = arguments.shape(0), &weight = arguments.shape(1);
  if (input.size() < 3 || weight.size() != input.size()) return {};
  if (places.is_transposed || arguments.value(places.transposed) == "True")
    return {convolution_flops(input, weight), std::nullopt};
  const Shape stride = arguments.numbers(places.stride);
  const std::optional<Shape> output = output_of_convolution(arguments, places, stride);
  if (!output) return {};
  OperatorWork work{convolution_flops(*output, weight), arguments.bytes_moved(2, elements_of(*output), 0)};
  if (work.bytes) *work.bytes -= arguments.bytes(0) * (1 - part_read(weight, stride));
  return work;
}

// Whether the list "[True, False]" has True at `index`; a list that was not recorded has it everywhere.
bool is_asked_for(std::string_view list, std::size_t index) {
  if (!list.starts_with('[')) return true;
  list.remove_prefix(1);
  for (; index > 0; --index) {
    const std::size_t comma = list.find(", ");
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 2);
  }
  return list.starts_with("True");
}

// aten::convolution_backward makes the gradients that its mask asks for: of the input, of the weight, of the bias.
OperatorWork work_of_convolution_backward(const OperatorArguments& arguments) {
  constexpr std::size_t kGradient = 0, kInput = 1, kWeight = 2, kStride = 4, kTransposed = 7, kMask = 10;
  const Shape &gradient = arguments.shape(kGradient), &input = arguments.shape(kInput),
              &weight = arguments.shape(kWeight);
  if (gradient.size() < 3 || weight.size() != gradient.size() || input.size() != gradient.size()) return {};
  const std::string_view mask = arguments.value(kMask);
  const bool of_input = is_asked_for(mask, 0), of_weight = is_asked_for(mask, 1);
  const double made = (of_input ? 1 : 0) + (of_weight ? 1 : 0);
  const Elements written = (of_input ? elements_of(input) : 0) + (of_weight ? elements_of(weight) : 0);
  const bool is_transposed = arguments.value(kTransposed) == "True";
  const Shape& side = is_transposed ? input : gradient;
  OperatorWork work{made * convolution_flops(side, weight), arguments.bytes_moved(3, written, kGradient)};
  if (work.bytes && !is_transposed)
    *work.bytes -= arguments.bytes(kInput) * (1 - part_read(weight, arguments.numbers(kStride)));
  return work;
}

// Where an attention operator has its query and its mark of causality. Key and value follow the query.
struct AttentionPlaces {
  std::string_view name;
  std::size_t query, causal;
  bool has_heads_first;  // batch, heads, length, width; else batch, length, heads, width
};
constexpr AttentionPlaces kAttentions[] = {
    {"aten::_scaled_dot_product_flash_attention", 0, 4, true},
    {"aten::_scaled_dot_product_efficient_attention", 0, 6, true},
    {"aten::_scaled_dot_product_cudnn_attention", 0, 6, true},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", 0, 4, true},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1, 7, true},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, 11, true},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, 11, true},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, true},
    {"aten::_cudnn_attention_forward", 0, 10, true},
    {"aten::_cudnn_attention_backward", 1, 14, true},
    {"aten::_flash_attention_forward", 0, 8, false},
    {"aten::_flash_attention_backward", 1, 11, false},
    {"aten::_efficient_attention_forward", 0, 9, false},
    {"aten::_efficient_attention_backward", 1, 14, false},
};

// Two products forward, five backward, where one of them is the recomputed first. Under a causal mask half of it is
// left out. "_efficient_attention" numbers its masks: 0 is none.
OperatorWork work_of_attention(const OperatorArguments& arguments, const AttentionPlaces& places) {
  const Shape &query = arguments.shape(places.query), &key = arguments.shape(places.query + 1),
              &value = arguments.shape(places.query + 2);
  if (query.size() != 4 || key.size() != 4 || value.size() != 4) return {};
  const bool is_backward = places.query == 1;
  const std::size_t length = places.has_heads_first ? 2 : 1;
  const std::string_view mask = arguments.value(places.causal);
  const double part = mask == "True" || mask == "1" || mask == "2" ? 0.5 : 1;
  const Elements scores = elements_of(std::span(query).first(3)) * static_cast<double>(key[length]);
  const double widths = static_cast<double>(query[3]) + static_cast<double>(value[3]);
  constexpr double kBackwardProducts = 2.5;
  const double flops = kFlopsPerMultiplyAdd * scores * widths * part * (is_backward ? kBackwardProducts : 1);

  const Elements tensors = elements_of(query) + elements_of(key) + elements_of(value);
  const Elements output = elements_of(std::span(query).first(3)) * static_cast<double>(value[3]);
  const Elements moved = is_backward ? 2 * (tensors + output) : tensors + output;
  const int element = arguments.element_bytes(places.query);
  return {flops, element == 0 ? std::nullopt : std::optional(moved * element)};
}

// TorchInductor's kernels, which it records as operators: what they read and what they write are arguments alike.
OperatorWork work_of_triton(const OperatorArguments& arguments) {
  const double bytes = arguments.bytes_of_first(arguments.size());
  return {std::nullopt, bytes > 0 ? std::optional(bytes) : std::nullopt};
}

}  // namespace

OperatorWork operator_work(std::string_view operator_name, const OperatorTexts& texts) {
  constexpr std::string_view kNamespace = "aten::", kTriton = "triton_";
  if (texts.shapes.empty()) return {};
  const OperatorArguments read(texts);
  if (operator_name.starts_with(kTriton)) return work_of_triton(read);
  if (!operator_name.starts_with(kNamespace)) return {};
  const std::string_view name = operator_name.substr(kNamespace.size());
  if (name == "mm" || name == "bmm" || name == "_scaled_mm" || name == "_int_mm") return work_of_product(read, 0);
  if (name == "addmm" || name == "baddbmm" || name == "_addmm_activation") return work_of_product(read, 1);
  if (name == "linear") return work_of_linear(read);
  if (name == "convolution_backward") return work_of_convolution_backward(read);
  for (const ConvolutionPlaces& places : kConvolutions)
    if (operator_name == places.name) return work_of_convolution(read, places);
  for (const AttentionPlaces& places : kAttentions)
    if (operator_name == places.name) return work_of_attention(read, places);
  return {std::nullopt, moved_bytes(name, read)};
}

}  // namespace telltale
