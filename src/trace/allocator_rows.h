// The log of the allocators, what they held before it, and noted tensors: from what readers hand in to a trace's rows.
#pragma once

#include <span>

#include "base/time.h"
#include "trace/event_batch.h"
#include "trace/translator.h"

namespace telltale {

// The earliest time of these rows; the largest number there is when there are none.
Nanoseconds first_allocator_row(const EventBatch& batch);

// Fills the trace's lists, once its events are nested. What a device's allocator did before its state was taken is in
// the state already and leaves the log. The parts of a segment are made to fill it: where some are missing, an inactive
// one stands, and one that does not fit is left out.
void add_allocator_rows(std::span<const EventBatch> batches, Translator& translator, Nanoseconds origin, Trace& trace);

}  // namespace telltale
