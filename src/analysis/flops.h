// Floating-point operations of an operator call, as torch.profiler's with_flops counts them: from the shapes and
// values of its arguments, for the few operators that have a formula.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale {

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

}  // namespace telltale
