// Writes a trace for speedscope.app: a profile for each thread and stream, of begins and ends that nest.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::speedscope {

// Times are nanoseconds. Events that overlap in part stand in profiles of their own. speedscope does not read streams:
// it wants the frames of all profiles first, so names are gone over twice.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::speedscope
