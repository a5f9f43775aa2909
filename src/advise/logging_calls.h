// Functions that a step calls only to tell somebody something: they print, write, log or save, and compute nothing that
// training needs.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

// In the steps, on the threads that feed the device, by event. From the call that writes outwards, the outermost Python
// function that neither calls a module, nor trains, nor launches more than a little of the device's work. Needs stacks.
std::vector<EventId> logging_calls(const Facts& facts);

// From a function inwards: the last one of the user's own in which most of its time is spent.
EventId function_that_takes_the_time(const Trace& trace, EventId function);

}  // namespace telltale
