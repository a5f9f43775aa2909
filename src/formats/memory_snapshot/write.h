// Writes PyTorch's own memory snapshot: the pickle that pytorch.org/memory_viz and torch/cuda/_memory_viz.py read.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::memory_snapshot {

// The log of the allocators, what they hold after it, and annotations. All else is left out.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress);

}  // namespace telltale::memory_snapshot
