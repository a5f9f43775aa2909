#include "analysis/recorder_tracks.h"

#include <algorithm>
#include <span>

namespace telltale {

bool is_of_recorder(const Trace& trace, const Track& track) {
  const auto kinds = std::span(trace.events.kind).subspan(track.first_event, track.event_count);
  return std::ranges::all_of(kinds, [](Kind kind) { return kind == Kind::kOverhead; });
}

}  // namespace telltale
