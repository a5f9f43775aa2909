// Puts the rows of all batches into the order of the Trace.
#pragma once

#include <span>
#include <vector>

#include "trace/event_batch.h"

namespace telltale {

// Fills the event columns and the tracks' ranges from rows whose names and tracks are translated already; `parent` and
// `cause` are kNoEvent. Times are taken from `origin` on. Empties the batches' rows. Returns the event of each row,
// rows being numbered through all batches.
std::vector<EventId> order_events(std::span<EventBatch> batches, Nanoseconds origin, Trace& trace, unsigned threads);

}  // namespace telltale
