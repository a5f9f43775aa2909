// Loops that call the same things again and again where one call would do: for one row or another part of a tensor
// after the other, one time step, one expert, one embedding table, one parameter.
//
// A list of layers looks alike and is none of these: each layer has parameters of its own and waits for the one before
// it. What tells them apart: parts are taken from other places in each turn, a cell is one module called again and
// again, experts pick their rows before they compute, tables only look up, and parameters are changed in place.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/facts.h"

namespace telltale {

enum class LoopOver : std::uint8_t { kRows, kParts, kCells, kExperts, kTables, kParameters };

struct CallLoop {
  LoopOver over = LoopOver::kRows;
  std::vector<EventId> turns;  // the call that begins each turn
  EventId first = 0, end = 0;  // all of the loop's events, consecutive ones of one thread
  // Over parameters: of the calls of a turn, those that lists still need. What is computed aside becomes part of a call
  // that changes a tensor: lerp_, or add_ with alpha.
  float calls_left = 1;
};

// Fewer turns are no loop worth rewriting.
inline constexpr std::size_t kLeastEqualTurns = 8;

// Loops in the forward pass and outside of it, without those of backward passes and of torch's own optimizers, and
// without loops whose turns are steps; by first event. None overlaps another: of those that do, the longest counts, and
// loops over rows (Facts::row_loops()) last. For Facts::call_loops(), which finds them once for all rules.
std::vector<CallLoop> find_call_loops(const Facts& facts);

}  // namespace telltale
