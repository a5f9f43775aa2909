// The same operators called again and again for one row of a tensor after the other.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct RowLoop {
  EventId parent = kNoEvent;   // what the loop stands in
  std::vector<EventId> turns;  // the child of the parent that begins each turn: it takes one row
  std::vector<EventId> calls;  // all children of the parent that belong to the loop, in order
  Nanoseconds duration = 0;    // from the first turn to the end of the last call
};

// Fewer turns are no loop worth rewriting.
inline constexpr std::size_t kLeastTurns = 10;

// Loops of at least kLeastTurns, in one call of the event that they stand in. A turn begins with an operator that takes
// a row (aten::select and its like), of the same tensor each time, as far as recorded values tell. For
// Facts::row_loops(), which finds them once for all rules.
std::vector<RowLoop> find_row_loops(const Facts& facts);

}  // namespace telltale
