// What a step would take if loops were single calls.
#pragma once

#include <span>

#include "advise/facts.h"
#include "advise/patterns/call_loops.h"

namespace telltale {

// Once for all instead of once per turn: everything that the loops call, the Python between these calls, what puts the
// results together, and what the backward pass does for it. On the device, kernels that leave multiprocessors empty
// fill them first, but for gradients of parts, each of which is as large as the whole; of recurrent cells, the products
// with the state remain one after the other.
Edit without_loops(const Facts& facts, std::span<const CallLoop> loops);

}  // namespace telltale
