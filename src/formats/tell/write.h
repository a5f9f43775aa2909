// Writes a trace as the tables of a .tell file; see docs/formats/tell.md.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::tell {

// Reading it back gives an equal trace, but for texts so long that they are returned here. Needs a few megabytes
// besides the trace.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::tell
