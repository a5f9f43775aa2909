// The values around the event list: devices, processes of a distributed job, what was recorded, and what else a file
// said.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::kineto {

// Each followed by a comma and a line break.
void write_header(const Trace& trace, TextWriter& out, LeftOutList& left_out);

// The time that stands for 0 in the file; 0 when it is not known when the trace was recorded. A whole number of
// microseconds, so that whoever rounds to those sees the same as in Kineto's own file.
std::int64_t base_time(const Trace& trace);

}  // namespace telltale::kineto
