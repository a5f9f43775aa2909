// Memory that every step takes and none gives back.
#pragma once

#include <cstdint>
#include <optional>

#include "advise/facts.h"

namespace telltale {

struct GrowingMemory {
  double bytes_per_step = 0;
  Survivor survivor;                   // the largest of what is left of several steps
  std::optional<double> steps_to_end;  // until the device's memory is full, where its size is known
};

// Nothing when the memory does not grow, or only as much as buffers of growing inputs do.
std::optional<GrowingMemory> growing_memory(const Facts& facts);

}  // namespace telltale
