// Steps that a recording begins or ends in the middle of, as the device sees it. At the beginning the device may be
// behind, and the first step waits for work that was launched before the recording. At the end the host may be ahead,
// and the recorder is gone before the device has done the work of the last steps.
#pragma once

#include <span>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct CutSteps {
  std::size_t first = 0;  // how many at the beginning: one or none
  std::size_t last = 0;   // how many at the end; never all
};

// `steps` are the steps on the host, by start. Linear in events.
CutSteps cut_steps(const Trace& trace, std::span<const Interval> steps);

}  // namespace telltale
