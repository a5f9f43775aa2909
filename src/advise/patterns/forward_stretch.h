// A stretch of a forward pass that a fix would replace as one, and what the backward pass does on its behalf.
#pragma once

#include <span>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Consecutive events [first, end) of one thread.
struct ForwardStretch {
  EventId first = 0, end = 0;
};

// An operator of the backward pass that none of its kind contains, and the stretch that made it necessary.
struct BackwardCall {
  EventId op = kNoEvent;
  std::size_t stretch = 0;  // an index of the stretches
};

// Stretches must not overlap. By op; linear in the trace's events.
std::vector<BackwardCall> backward_calls_of(const Facts& facts, std::span<const ForwardStretch> stretches);

// The operator around `event` that is as large as can be without containing `other`; `event` itself when none is. Both
// are on one thread.
EventId outermost_operator_apart(const Trace& trace, EventId event, EventId other);

// The device work that a stretch and its backward calls launch, one sum a stretch.
std::vector<std::vector<EventId>> work_of_stretches(const Facts& facts, std::span<const ForwardStretch> stretches,
                                                    std::span<const BackwardCall> backward);

// The host no longer calls the operators in [first, end), nor launches for them; Python stays.
void drop_operators(const Facts& facts, Edit& edit, EventId first, EventId end);

}  // namespace telltale
