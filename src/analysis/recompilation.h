// Steps that compile, and whether they do so again and again.
//
// The first steps of a program compile, once for its shapes and once more where one of them varies, and so may a last
// batch that is smaller. A third step that compiles, or one of several in the later half of a recording, is none of
// these: something changes that the compiler took for constant, and the steps that compile are no outliers.
//
// Pure and thread-safe; linear in events.
#pragma once

#include <span>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// By step: whether work of torch.compile's or Triton's compiler begins in it. Loading of kernels is none.
std::vector<bool> compiling_steps(const Trace& trace, std::span<const Interval> steps);

bool keeps_compiling(const std::vector<bool>& compiling_steps);

}  // namespace telltale
