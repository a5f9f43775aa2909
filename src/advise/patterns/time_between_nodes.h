// What passes between nodes of the backward pass, on the thread that waits for it.
//
// Autograd's thread runs a node, and then the next; the time between them is shown as that of whoever waits for the
// pass (a call of backward(), a wait for a lock, a step's mark). It goes as the node behind it does. Pure and
// thread-safe; linear in the events of the steps.
#pragma once

#include <string_view>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// What autograd's engine does for a node, and the node within it.
inline constexpr std::string_view kEngineCall = "autograd::engine::evaluate_function";

// Of an event's own time, in nanoseconds.
struct TimeBetween {
  double gone = 0;
  double shown = 0;  // all that the replay has of it
};

// By event: all that the replay shows, and what of it goes with nodes that the edit shortens.
std::vector<TimeBetween> time_between_nodes(const Facts& facts, const Edit& edit);

// Shortens events by what goes of them.
void shorten_by(const Facts& facts, const std::vector<TimeBetween>& between, Edit& edit);

}  // namespace telltale
