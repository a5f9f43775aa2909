// Which event contains which, and which events of a track overlap without containing one another.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace telltale {

// Fills `parent` of the rows of one track, whose order must be the Trace's. Returns whether some of them overlap in
// part. Linear. Safe to call for different tracks at the same time.
bool nest(Events& events, const Track& track);

// The lane of each row of a track: 0 for those that nest, and the first one where it overlaps nothing in part for the
// others. `has_too_many` is set when the last lane had to be shared.
std::vector<std::uint8_t> lanes_of(const Events& events, const Track& track, bool& has_too_many);

// Finds what was open at a moment, in logarithmic time however deeply events nest.
class OpenRows {
 public:
  // The events must be nested, and outlive it unchanged.
  explicit OpenRows(const Events& events);

  // The innermost row of the track that is open at `time`, its ends included: of all that contain it, the last.
  // kNoEvent when there is none. `hint` is where an earlier search for a time not later ended; it makes a sweep over
  // rising times quick.
  EventId innermost_at(const Track& track, Nanoseconds time, EventId& hint) const;

 private:
  const Events& events_;
  std::vector<EventId> far_;  // by event: one around it, chosen so that a few steps lead to any other
};

}  // namespace telltale
