// Writes a trace as PyTorch's Kineto would: JSON that Perfetto, chrome://tracing and our own reader open.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::kineto {

// Reading it back gives the same trace, but for what is returned here and for the anomalies of the file that it came
// from. Times are relative to baseTimeNanoseconds, a whole number of microseconds.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

// The same with the marks that Kineto sets at the end of its list: the window that was recorded, as a span and as two
// instants.
LeftOutList write_with_window(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::kineto
