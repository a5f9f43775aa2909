// Gives every begin its end, across blocks.
#pragma once

#include <span>

#include "formats/kineto/block_events.h"

namespace telltale::kineto {

// Sets the durations of the rows that were written for begins. Begins and ends match like brackets, in the order of
// time, within a thread (B, E) or within a process, category and id (b, e). An async begin without an end becomes an
// instant; another one lasts to the end of its track.
void pair_spans(std::span<BlockEvents> blocks, Anomalies& anomalies);

}  // namespace telltale::kineto
