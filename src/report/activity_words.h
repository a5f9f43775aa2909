// The words of a recording that is not cut into steps: requests, threads and counters. Shared by all views of a
// diagnosis.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/analyze_words.h"

namespace telltale {

// "server.tell · 2.00 s · 3 threads · 851 × request"
std::string activity_subject(const Diagnosis& diagnosis);
Headline activity_headline(const Diagnosis& diagnosis);

// What repeats and how long it takes, as cells of a table.
struct LatencyCells {
  std::string name, count, p50, p90, p99, max;
  std::string waiting;  // "72 %"; empty where it is not known
};
LatencyCells latency_cells(const SpanLatency& latency);

struct CounterCells {
  std::string name, mean, minimum, maximum, values;
};
CounterCells counter_cells(const CounterSummary& counter);

// "layer 36 · classify 1": what a thread does, in percent of the window; what rounds to nothing is left out.
std::string scopes_text(const HostActivity& host, const ThreadActivity& thread);

// How many rows fit on a screen; the rest is said to be there.
inline constexpr std::size_t kMostActivityRows = 10;
// "and 3 more threads"; empty when there are no more.
std::string more_text(std::size_t all, std::string_view what);

}  // namespace telltale
