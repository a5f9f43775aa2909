// How many bytes an operator call moves at least that computes little: elementwise ones, copies, fills, reductions,
// normalizations.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/operator_arguments.h"

namespace telltale {

// `name` is without "aten::". Every input and output counts once. Nothing for other operators, and where shapes or
// types do not say it.
std::optional<double> moved_bytes(std::string_view name, const OperatorArguments& arguments);

}  // namespace telltale
