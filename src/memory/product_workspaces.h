// Which blocks cuBLAS works in. PyTorch takes them from its allocator at a thread's first product, right behind the
// product's result, and never gives them back.
//
// Where operators were recorded, they name the product. In a log without any, as in a snapshot, the result is told by
// having the same call stack, and threads by where their stacks begin. Threads on which autograd runs backward have no
// stacks: of them it is the first block that has the size and is never freed.
//
// Pure and thread-safe; linear in blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "memory/made_block.h"
#include "trace/trace.h"

namespace telltale {

// Indices of `blocks`, which are of one device: those of the trace by when they were made, those from before in any
// place. What is freed after `end` goes because the program ends.
std::vector<std::size_t> product_workspaces(const Trace& trace, std::span<const MadeBlock> blocks, Nanoseconds end);

}  // namespace telltale
