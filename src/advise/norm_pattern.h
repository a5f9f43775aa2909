// Norms that are written out: a mean of squares or a variance, its root, and a tensor divided by that.
#pragma once

#include <vector>

#include "advise/facts.h"
#include "advise/forward_stretch.h"

namespace telltale {

struct WrittenNorm {
  ForwardStretch stretch;
  EventId root = kNoEvent;  // the operator that takes the square root
  double bytes = 0;         // of the tensor in the narrower of its types; 0 without shapes
};

// In the order of their roots.
std::vector<WrittenNorm> written_norms(const Facts& facts);

}  // namespace telltale
