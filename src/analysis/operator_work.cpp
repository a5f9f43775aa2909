#include "analysis/operator_work.h"

#include <cstdint>
#include <span>

#include "analysis/moved_bytes.h"

namespace telltale {
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
