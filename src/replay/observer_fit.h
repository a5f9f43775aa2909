// What recording cost, for the program at hand: fitted to a step that was measured unrecorded, or with the range in
// which such a step lies where there is none.
//
// Thread-safe; a few replays.
#pragma once

#include <optional>

#include "base/time.h"
#include "replay/edit.h"
#include "replay/step_graph.h"

namespace telltale {

ObserverCost scaled(const ObserverCost& cost, double factor);

struct ObserverFit {
  ObserverCost cost;
  // What is left to the measured step when the cost is taken out: times are multiplied by it. 1 where the cost explains
  // all; else the program ran faster or slower for other reasons while it was recorded, and savings that a replay finds
  // are taken as shares of its step.
  double rest = 1;
};

// The multiple of the guess that agrees best with all that is known: with the measured step, when it makes the replay
// without observer take as long; with what the host takes by itself for an unrecorded step, if that was seen; and with
// the guess. Where the device sets the pace, steps say nothing of what the host lost to recording: there the host's own
// time has the say or, where nobody saw it, the guess stands, without which the host would be too slow in all that is
// foretold. Where the host sets the pace, the measured step has nearly all the say.
ObserverFit fitted_to(const StepGraph& graph, const ObserverCost& guess, Nanoseconds measured,
                      std::optional<Nanoseconds> host_ahead = std::nullopt);

struct UnobservedRange {
  Nanoseconds low = 0, high = 0;
};

// The unobserved step if recording costs more or less than the guess, as much as the guess is known to be off.
UnobservedRange unobserved_range(const StepGraph& graph, const ObserverCost& guess);

}  // namespace telltale
