// A choice of steps by their number, as in ProfilerStep#7.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

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

}  // namespace telltale
