// Writes a trace as the tables of a .tell file; see docs/formats/tell.md. Nothing of the trace is left out.
#pragma once

#include "base/error.h"
#include "formats/output/byte_sink.h"
#include "formats/output/left_out.h"
#include "trace/trace.h"

namespace telltale::tell {

// Reading it back gives an equal trace. Needs a few megabytes besides the trace; does not finish the sink.
Result<void> write(const Trace& trace, ByteSink& sink, const WriteProgress& progress = {});

}  // namespace telltale::tell
