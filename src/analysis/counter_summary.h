// What the counters of a trace showed: a queue's depth, a cache's size.
//
// A counter keeps its value until the next one. Pure and thread-safe; linear in the values of counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct CounterSummary {
  std::string name, series;
  std::int64_t values = 0;  // within the window
  double minimum = 0, maximum = 0, last = 0;
  double mean = 0;  // over the time from the first value on
};

// Those that have a value within the window, in the order of the trace.
std::vector<CounterSummary> counter_summaries(const Trace& trace, Interval window);

}  // namespace telltale
