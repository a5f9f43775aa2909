// How much an operator call computes and moves, from the shapes and types of its arguments: as torch.profiler counts
// it, and at least, which is what a roofline needs.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/operator_arguments.h"

namespace telltale {

// How torch.profiler's with_flops counts the floating-point operations of the few operators that have a formula.
enum class FlopFormula : std::uint8_t {
  kNone,
  kConvolution2d,      // aten::conv2d
  kMatrixProduct,      // aten::mm
  kMatrixProductAdd,   // aten::addmm
  kBatchedProduct,     // aten::bmm
  kBatchedProductAdd,  // aten::baddbmm
  kElementwise,        // aten::add, aten::mul: one operation an element of the first argument
};

FlopFormula flop_formula(std::string_view operator_name);

// `shapes` and `concrete` as in OperatorInputs. Nothing when they do not say enough, or when the number does not fit.
std::optional<std::int64_t> count_flops(FlopFormula formula, std::string_view shapes, std::string_view concrete);

// What a call computes and moves at least. Where FLOPs have a formula of torch.profiler's too, they are the same.
struct OperatorWork {
  std::optional<double> flops;  // two a multiply-add; only of products, convolutions and attention
  std::optional<double> bytes;  // every input and output once
  bool operator==(const OperatorWork&) const = default;
};

// What cannot be derived is absent: no shapes or types, lists of tensors, operators whose output depends on values.
OperatorWork operator_work(std::string_view operator_name, const OperatorTexts& texts);

}  // namespace telltale
