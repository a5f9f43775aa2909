// Writes a trace as collapsed stacks, which flame graphs are drawn from: a line for each different stack, its frames
// joined by ";", and the nanoseconds spent in it and in nothing inside of it.
#pragma once

#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::collapsed {

// The outermost frame is the thread or stream. Device work stands, on its stream, inside of the calls that launched it,
// so that a flame graph shows which code the device's time goes to. In names, ";" becomes "," and a line break a space.
// Where calls nest so deeply that the text would be longer than 64 MiB and than 1 KiB for each event, all stacks end at
// the same depth, and the time of deeper calls counts in those around them.
LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress = {});

}  // namespace telltale::collapsed
