#include "analysis/operator_arguments.h"

#include <algorithm>

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

}  // namespace telltale
