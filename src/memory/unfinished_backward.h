// What of a backward pass is still there only because the recording ends in the middle of it, as where memory runs out.
//
// In a pass that is done, what outlives it is a gradient. In one that is not, nothing tells what would have been freed,
// but the pass before: a training loop repeats itself, so that its first block of a call stack and a size is freed when
// that of the pass before was, its second as that one's second, and so on. Where there was none before, a gradient has
// the size of a parameter.
//
// Pure and thread-safe; O(n log n) in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "memory/made_block.h"

namespace telltale {

// Indices of those `blocks` that are taken as gradients and are none. A pass ends at the next of `ends`, ascending; no
// parameter sizes: not known.
std::vector<std::size_t> unfinished_temporaries(std::span<const MadeBlock> blocks, std::span<const Nanoseconds> ends,
                                                const std::set<std::int64_t>& parameter_sizes);

}  // namespace telltale
