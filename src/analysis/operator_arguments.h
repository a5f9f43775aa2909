// The arguments of an operator call, read from the texts of OperatorInputs, and the bytes that moving them takes.
//
// Pure and thread-safe. What the texts do not have is empty, 0 or nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/shapes.h"

namespace telltale {

// The texts of OperatorInputs.
struct OperatorTexts {
  std::string_view shapes, strides, types, concrete;
};

using Elements = double;  // counts beyond 2^53 are no tensors, and doubles do not overflow

Elements elements_of(std::span<const std::int64_t> shape);

class OperatorArguments {
 public:
  explicit OperatorArguments(const OperatorTexts& texts);

  std::size_t size() const { return shapes_.size(); }
  const Shape& shape(std::size_t i) const { return i < shapes_.size() ? shapes_[i] : none_; }
  std::string_view value(std::size_t i) const { return i < values_.size() ? values_[i] : std::string_view{}; }
  Shape numbers(std::size_t i) const { return whole_numbers(value(i)); }
  // 0 for what is no tensor.
  int element_bytes(std::size_t i) const;

  // Of a tensor as it lies in memory: what it repeats along a dimension, as expand() makes it, is there once.
  double bytes(std::size_t i) const;
  double bytes_of_first(std::size_t count) const;

  // Of a call that reads its first `inputs` arguments and writes `written` elements of the type of the argument `like`.
  std::optional<double> bytes_moved(std::size_t inputs, Elements written, std::size_t like) const;

 private:
  std::vector<Shape> shapes_, strides_;
  std::vector<std::string> types_, values_;
  Shape none_;
};

// How many bytes a call moves at least that computes little: elementwise ones, copies, fills, reductions,
// normalizations. `name` is without "aten::". Every input and output counts once. Nothing for other operators, and
// where shapes or types do not say it.
std::optional<double> moved_bytes(std::string_view name, const OperatorArguments& arguments);

}  // namespace telltale
