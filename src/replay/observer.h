// What the recording cost the program that it recorded.
#pragma once

#include "replay/edit.h"
#include "trace/trace.h"

namespace telltale {

// By what the trace holds: recorders that follow Python calls cost most by far. Fitted on pairs of recorded and
// unprofiled steps; docs/rules.md says which, and how far off the fit is for cases left out of it.
ObserverCost observer_cost(const Trace& trace);

// The program as it runs without a recorder.
Edit without_observer(const Trace& trace);

}  // namespace telltale
