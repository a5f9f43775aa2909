// Writes a trace as Perfetto's own protobuf messages.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::perfetto {

// Events become slices and instants of TrackEvent, with their arguments as debug annotations; causes and flows become
// flows; memory events become counters. Events that overlap in part get a track of their own below their track, since
// slices of one track must nest.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::perfetto
