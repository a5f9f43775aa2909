// The parts of a trace that formats of few means have no place for, as entries of what they left out.
#pragma once

#include <string_view>

#include "formats/output/left_out.h"
#include "trace/trace.h"

namespace telltale {

// How often the file that the trace was read from disappointed us.
void leave_out_anomalies(const Trace& trace, LeftOutList& left_out);

// Memory events, values of counters and flows.
void leave_out_all_but_events(const Trace& trace, LeftOutList& left_out, std::string_view why);

// Shapes, launch sizes, bytes and all else that side tables hold; each row of a table counts.
void leave_out_details(const Trace& trace, LeftOutList& left_out, std::string_view why);

// Links from events to what caused them.
void leave_out_causes(const Trace& trace, LeftOutList& left_out, std::string_view why);

}  // namespace telltale
