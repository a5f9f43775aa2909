#include "analysis/flops.h"

#include <algorithm>
#include <span>

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

}  // namespace telltale
