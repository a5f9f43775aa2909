// Tensors that the host was given, converts or computes on, operator by operator, and then copies to the device, which
// could as well compute them. Those that the host fills itself are none of them.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct PreparingOperator {
  EventId op = kNoEvent;
  double bytes = 0;  // of the largest tensor that it reads
};

struct PreparedTensor {
  std::vector<PreparingOperator> work;  // not empty; one at least computes for longer than a dispatch takes
  EventId copied_by = kNoEvent;         // the whole call that copies it, see copying_call()
  EventId copy = kNoEvent;              // on the device
  double bytes = 0;                     // copied

  // As the host was given it.
  double raw_bytes() const { return work.front().bytes; }
};

// Within the steps, outside of data loaders, in the order of threads and time. Empty where shapes are not recorded:
// they tell which tensor is copied.
std::vector<PreparedTensor> prepared_tensors(const Facts& facts);

}  // namespace telltale
