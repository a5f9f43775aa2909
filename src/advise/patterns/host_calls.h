// Calls of the host that several rules look at as a whole: those of one sort of work, those that copy, and Python of
// the user's own.
#pragma once

#include <vector>

#include "advise/facts.h"
#include "trace/trace.h"

namespace telltale {

// Calls that are one sort of host work as a whole: loading, collecting garbage, compiling. The outermost events of that
// work that begin in a step, on the threads that feed the device, longest first.
std::vector<EventId> covering_calls(const Facts& facts, HostWork work);

// A step's share of what the calls took, as recorded.
Nanoseconds time_in(const Facts& facts, const std::vector<EventId>& calls);

// In how many steps there is such a call.
std::size_t steps_with(const Facts& facts, const std::vector<EventId>& calls);

// The whole call that makes a copy: aten::to around aten::_to_copy around aten::copy_ around the API's call. It is the
// outermost of the operators around `launch` that do nothing but copy, with Python's call of it where one was
// recorded; `launch` itself where there is none.
EventId copying_call(const Trace& trace, EventId launch);

// The Python function whose own time that of the event is: its own, or that of one around an annotation, as the mark of
// a step. kNoEvent for other events.
EventId function_around(const Trace& trace, EventId event);

// The outermost calls, within the steps, whose whole call makes no operator and no call into the device's API: of
// functions outside of libraries, and of libraries other than torch that such a function calls (numpy, random); by
// event. For Facts::user_python(), which finds them once for all rules.
std::vector<EventId> find_user_python(const Facts& facts);

// A function of the user's that calls operators, and computes in Python (or in a library that is not torch) in between.
// Python takes microseconds from one operator to the next: of 8 programs whose functions call operators all the time,
// stretches of 200 µs and more took up to 1 % of a step.
struct StretchedCall {
  EventId call = kNoEvent;      // whose own time it is: that of the function, or of an annotation within it
  EventId function = kNoEvent;  // a call of a function of the user's
  Nanoseconds time = 0;         // of its long stretches
  double share = 0;             // which they are of its own time in the steps
  std::vector<int> steps;       // that have such a stretch, in order
};

// By event; calls that find_user_python() finds are left out. For Facts::stretched_calls().
std::vector<StretchedCall> find_stretched_calls(const Facts& facts);

}  // namespace telltale
