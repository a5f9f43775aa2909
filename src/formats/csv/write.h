// Writes the events of a trace as comma-separated values, a line each, for spreadsheets and data frames.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::csv {

// Columns: id, start_ns, duration_ns, name, kind, category, process, pid, track, tid, device, parent, cause, step,
// args. What is absent is empty. `parent` and `cause` are ids of other lines, `step` is the number in its name, `args`
// is a JSON object with the names of trace/attributes.h.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::csv
