// A choice of steps by their number, as in ProfilerStep#7, or by their place where they have none, and what belongs to
// them. Steps are those that found_steps() finds; a trace that is one step as a whole has none to choose from.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/found_steps.h"
#include "trace/slice.h"
#include "trace/trace.h"

namespace telltale {

struct StepRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();  // both ends included
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  bool is_asked_for = false;  // then whatever is in it counts, also what is unlike the rest

  bool contains(std::int64_t index) const { return first <= index && index <= last; }
};

// Those of the trace's steps that the range has.
std::vector<FoundStep> steps_in(const Trace& trace, const StepRange& range);

// Whether events belong to a range of steps: host events that begin in one, device work that was launched in one.
class StepFilter {
 public:
  StepFilter(const Trace& trace, const StepRange& range);
  bool accepts(EventId event) const;
  const std::vector<Interval>& windows() const { return windows_; }

 private:
  const Trace& trace_;
  std::vector<Interval> windows_;  // ascending and apart from each other
};

// What a trace of those steps alone keeps: host events that have a part in one of the steps, so that whatever the steps
// ran inside of stays; device work that was launched in them, whenever it runs; annotations on the device around such
// work.
Selection selection_of(const Trace& trace, const StepRange& range);

}  // namespace telltale
