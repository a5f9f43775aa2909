// Changes to a step as people ask for them, and what to say when one makes no sense.
#pragma once

#include <string>

#include "base/error.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace telltale {

// "operator, python, …": the kinds of events that a change can be about.
std::string kinds_that_are_replayed();

// The change itself, or why its pattern can match nothing in any trace.
Result<PatternChange> checked(PatternChange change);

// The pattern that matches nothing in this trace, and why as far as we can tell; empty when all match.
std::string why_no_match(const WhatIf& answer, const Trace& trace);

}  // namespace telltale
