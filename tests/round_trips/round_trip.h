// Out and in again: a trace, the JSON that is written for it, and what is read from that.
#pragma once

#include <string>

#include "formats/output/left_out.h"
#include "trace/trace.h"

namespace telltale {

// Throws when the text is refused.
Trace trace_of_text(const std::string& text);

struct WrittenJson {
  std::string text;
  LeftOutList left_out;
};
WrittenJson as_json(const Trace& trace);

// Where the two traces differ, leaving aside what is about the files and not about what was recorded: their sizes and
// their anomalies. Changes these.
std::string difference_of_content(Trace& before, Trace& after);

// What goes wrong when the trace in `text` is written, read, and written again; empty when nothing does.
std::string trouble_of_round_trip(const std::string& text);

}  // namespace telltale
