#include "advise/call_sum.h"

#include <algorithm>

namespace telltale {

std::vector<EventId> CallSum::longest() const {
  const auto& durations = facts_.trace.events.duration;
  std::vector<EventId> longest(std::min(calls_.size(), Finding::kMaxEvidence));
  std::ranges::partial_sort_copy(calls_, longest, [&](EventId a, EventId b) {
    return durations[a] != durations[b] ? durations[a] > durations[b] : a < b;
  });
  return longest;
}

}  // namespace telltale
