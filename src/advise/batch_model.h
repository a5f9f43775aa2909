// What twice the batch would do to a step.
#pragma once

#include "advise/facts.h"

namespace telltale {

// The step at twice the batch: device work takes up to twice as long (see batch_growth.h); loading, copies from the
// host and long operators on the CPU take twice as long. Python, dispatch and launches stay.
Edit doubled_batch(const Facts& facts);

// What a sample costs less at twice the batch, as time of a step at the present one. Negative when it would cost more.
Nanoseconds saved_by_doubled_batch(const Facts& facts);

// Whether twice the peak still fits, as far as the trace tells; nothing when it has no memory events or no device size.
std::optional<bool> has_memory_for_doubled_batch(const Facts& facts);

}  // namespace telltale
