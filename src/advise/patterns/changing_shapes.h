// Models that are called several times in a step, with other shapes each time: text that is decoded with a cache that
// grows by a token. torch.compile compiles them again and again, and what it captures in a graph fits no other call.
#pragma once

#include "advise/facts.h"

namespace telltale {

// Needs modules and shapes; false without them. Linear in events.
bool has_new_shapes_at_every_call(const Facts& facts);

}  // namespace telltale
