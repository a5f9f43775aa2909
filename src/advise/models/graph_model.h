// What capturing a step in a CUDA graph would do.
#pragma once

#include <cstddef>
#include <optional>

#include "advise/facts.h"

namespace telltale {

// One step alone shows no repetition.
inline constexpr std::size_t kLeastStepsOfGraph = 2;

// All of a step's kernels as one graph, launched by one call. Nothing when the steps cannot be captured: they launch
// different kernels, wait for the device, or allocate device memory.
std::optional<Edit> captured_in_graph(const Facts& facts);

Fix graph_fix();

}  // namespace telltale
