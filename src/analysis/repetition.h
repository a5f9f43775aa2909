// Where a program repeats itself, for traces that mark no steps: its outermost period, never its layers.
//
// From the top of the busiest thread downwards, calls that stand side by side are looked at. Where ranges, functions
// and modules take most of their time, a period is what a call that matters begins again and again, with the others
// coming as often each time. Where operators do, without anything around them, it is the longest sequence of operators
// that follows upon itself until the end; what stands before and behind it, as the embedding and the head of a network
// do around its layers, shows that it is no pass of its own, unless it stood between passes before, as what comes
// behind the last token of each text does. What repeats inside one call that takes most of the time is looked at in
// turn, but for modules and operators: inside those are layers. Where nothing takes most of the time again and again,
// as in a program that imports and prepares for longer than it works, only time in operators counts; and where one of
// them waited for a processor for longer than all others take, how many there are.
//
// Pure and thread-safe; linear in events.
#pragma once

#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// The passes on the host, ascending; empty where nothing repeats at the outermost level.
std::vector<Interval> repeated_passes(const Trace& trace);

// The parts of a single pass that warms up: a call of a module that takes most of the trace, and more than half of
// whose time goes by before the second of the modules alike in it, since kernels are loaded when they are first
// launched. The first part is all that; the others are the alike ones that follow. Empty where there is no such pass.
std::vector<Interval> parts_of_cold_pass(const Trace& trace);

}  // namespace telltale
