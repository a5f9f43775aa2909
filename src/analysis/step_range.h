// A choice of steps by their number, as in ProfilerStep#7, and what belongs to them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/slice.h"
#include "trace/trace.h"

namespace telltale {

struct StepRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();  // both ends included
  std::int64_t last = std::numeric_limits<std::int64_t>::max();

  bool contains(const Step& step) const { return first <= step.index && step.index <= last; }
};

// Those of the trace's steps that the range has.
std::vector<StepId> steps_in(const Trace& trace, const StepRange& range);

// Whether events belong to a range of steps.
class StepFilter {
 public:
  StepFilter(const Trace& trace, const StepRange& range);
  bool accepts(EventId event) const;

 private:
  const Trace& trace_;
  std::vector<bool> is_chosen_;  // by step
};

// What a trace of those steps alone keeps: host events that have a part in one of the steps, so that whatever the steps
// ran inside of stays; device work that was launched in them, whenever it runs; annotations on the device around such
// work.
Selection selection_of(const Trace& trace, const StepRange& range);

}  // namespace telltale
