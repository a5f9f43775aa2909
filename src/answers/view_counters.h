// The curves of the timeline's picture, piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/view.h"
#include "base/error.h"
#include "timeline/counter_curves.h"

namespace telltale::answers {

struct ViewCountersRequest {
  std::int64_t level = 0, tile = 0;
  std::vector<TrackId> tracks;  // those that are no counters have no curve
};

struct ViewCurve {
  TrackId track = 0;
  std::vector<CurvePoint> points;
};

struct ViewCountersAnswer {
  std::vector<ViewCurve> counters;

  std::string json() const;  // CounterTiles in web/src/protocol.ts
};

Result<ViewCountersAnswer> view_counters(const View& view, const ViewCountersRequest& request);

}  // namespace telltale::answers
