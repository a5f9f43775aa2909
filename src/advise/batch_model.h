// What twice the batch would do to a step.
#pragma once

#include "advise/facts.h"

namespace telltale {

// The step at twice the batch: device work takes twice as long, but for the optimizer and for kernels that leave
// multiprocessors empty; so do loading, copies from the host and long operators on the CPU. Python, dispatch and
// launches stay.
Edit doubled_batch(const Facts& facts);

// What a sample costs less at twice the batch, as time of a step at the present one. Negative when it would cost more.
Nanoseconds saved_by_doubled_batch(const Facts& facts);

// Whether twice the peak still fits, as far as the trace tells; nothing when it has no memory events or no device size.
std::optional<bool> has_memory_for_doubled_batch(const Facts& facts);

}  // namespace telltale
