// The line of the program on which the making of batches spends most of its time. What counts is the function: a loop
// has several lines, of which the costliest stands for all.
#pragma once

#include <optional>
#include <vector>

#include "advise/facts.h"
#include "trace/loader_facts.h"

namespace telltale {

// A function that takes less of the time is not what makes a loader slow.
inline constexpr double kTellingShare = 0.3;

struct LoaderTime {
  std::optional<LoaderLine> costliest;  // nothing where none has kTellingShare, or nothing is known
  std::optional<double> waiting;        // the share of the time in which it waits rather than runs; where that is known
};

// Of what worker processes say.
LoaderTime loader_time(const std::vector<LoaderLine>& lines);

// Of the calls of a loader that makes its batches itself, the longest first: the deepest frame outside of libraries
// within each.
LoaderTime loader_time(const Facts& facts, const std::vector<EventId>& calls);

}  // namespace telltale
