// Tensors that the host fills with numbers of its own making, noise or constants, and then copies to the device.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct HostBuilt {
  std::vector<EventId> made_by;  // operators, the filling one first, then those that computed on
  EventId copied_by = kNoEvent;  // the whole call that copies it, see copy_operators.h
  EventId copy = kNoEvent;       // on the device
};

// Within the steps, outside of data loaders, in the order of threads and time. Shapes tell which tensor is copied;
// without them, a copy is taken for that of what was made right before it.
std::vector<HostBuilt> host_built_tensors(const Facts& facts);

}  // namespace telltale
