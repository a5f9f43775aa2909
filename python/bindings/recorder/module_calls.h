// Calls of modules as scopes, whoever sees them begin and end: torch's hooks, or ours on Python calls.
//
// All of it under the GIL.
#pragma once

#include <nanobind/nanobind.h>

namespace telltale::python {

// `what` tells calls apart; it is never looked at.
void begin_module(nanobind::handle module, const void* what);
// Ends the innermost one if it is of that.
void end_module(const void* what);
void end_all_modules();
// Whether the next one to begin stands in no other.
bool is_next_outermost();
// Numbers modules anew.
void forget_modules();

}  // namespace telltale::python
