// The numbers that Kineto gives the events in its JSON, for what is exported under torch.profiler's interface.
#pragma once

#include "trace/trace.h"

namespace telltale::python {

// "Ev Idx", by start, operators and annotations before Python's calls, and "Record function id" on those that torch's
// RecordFunction makes. The latter is 0, as Kineto has it while no execution trace is recorded.
void add_kineto_numbers(Trace& trace);

}  // namespace telltale::python
