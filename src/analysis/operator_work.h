// How much an operator call computes and moves at least, from the shapes and types of its arguments: what a roofline
// needs. Where FLOPs have a formula of torch.profiler's too (flops.h), they are the same.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/operator_arguments.h"

namespace telltale {

struct OperatorWork {
  std::optional<double> flops;  // two a multiply-add; only of products, convolutions and attention
  std::optional<double> bytes;  // every input and output once
  bool operator==(const OperatorWork&) const = default;
};

// What cannot be derived is absent: no shapes or types, lists of tensors, operators whose output depends on values.
OperatorWork operator_work(std::string_view operator_name, const OperatorTexts& texts);

}  // namespace telltale
