// Which of a program's steps are unlike the others, so that they say nothing about it: the first ones, in which things
// are loaded and compiled, or one that something disturbed.
//
// A step is far from the others when it takes more than twice or less than half their median, and lies more than
// kFarDeviations times their usual deviation from it (the median of the deviations, scaled to a standard deviation of
// normal values). Such steps are outliers
//   - at the beginning: up to a third of all steps, the first ones first;
//   - elsewhere: when they are at most a fifth of all steps (of a few steps, one), and do not come at equal distances.
// What comes at equal distances, such as a checkpoint every tenth step, or more often, is how the program runs. Steps
// that were not recorded count for distances.
// With fewer than three steps nobody knows which of them is usual.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"

namespace telltale {

// For each step, in the order in which they ran, whether it is an outlier. `numbers`: of the steps, ascending; none
// where they follow each other. O(n).
std::vector<bool> outliers_among(std::span<const Nanoseconds> durations, std::span<const std::int64_t> numbers = {});

}  // namespace telltale
