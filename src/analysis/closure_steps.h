// Steps of optimizers that compute the loss and its gradients themselves, by a closure that they are given, as LBFGS
// needs it and Lightning always does: what is inside them is the whole step of the program, not the optimizer's.
//
// Pure and thread-safe; linear in events.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace telltale {

// By event: whether it is such a step, or inside one.
std::vector<bool> in_closure_step(const Trace& trace);

}  // namespace telltale
