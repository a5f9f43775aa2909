// The numbers that Kineto gives the events in its JSON, for torch.profiler's interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace telltale::python {

// "External id" of an operator or an annotation.
std::uint64_t external_id(EventId event);

// "Ev Idx" of each event, by start, operators and annotations before Python's calls; 0 for what has none.
std::vector<std::size_t> kineto_numbers(const Trace& trace);

// Adds them to the trace, where annotations have no external ids otherwise, and "Record function id" to what torch's
// RecordFunction makes: that of the execution trace, or 0, as Kineto has it while none is recorded. Names of overloads
// become part of the name, arguments by name arguments of the event.
void add_kineto_numbers(Trace& trace);

}  // namespace telltale::python
