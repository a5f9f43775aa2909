// Which blocks that operators of the forward pass made are for no backward pass: masks, tables, a copy of the weights.
//
// PyTorch numbers what runs before the training, and what makes a constant within it, like the model's own operators.
// But what a pass keeps goes with its backward pass, or when the next pass replaces the variable that has it. A
// constant is still there two passes later, and to the end; and it is made once, while a leak makes more in each pass.
//
// Pure and thread-safe; O(n log n).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/time.h"
#include "memory/made_block.h"
#include "trace/trace.h"

namespace telltale {

// Of `blocks` those that count as activations so far. `forward` and `backward` are when these passes begin, ascending.
std::vector<std::size_t> constants_of_forward(const Trace& trace, std::span<const MadeBlock> blocks,
                                              std::span<const Nanoseconds> forward,
                                              std::span<const Nanoseconds> backward);

}  // namespace telltale
