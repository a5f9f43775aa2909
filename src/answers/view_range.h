// What happens in a range of the timeline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/view.h"
#include "answers/view_colors.h"
#include "base/error.h"
#include "timeline/range_summary.h"

namespace telltale::answers {

struct ViewRangeRequest {
  std::int64_t start = 0, end = 0;
  std::vector<TrackId> tracks;  // empty: all
};

struct RangeThread {
  TrackId track = 0;
  std::string name;
  Nanoseconds busy = 0;
};

struct RangeCause {
  std::string word;
  Nanoseconds time = 0;
  ColorIndex color = 0;
};

struct RangeDevice {
  DeviceId id = 0;
  std::string name;
  Nanoseconds busy = 0, idle = 0;
  std::vector<RangeCause> causes;  // by falling time
};

struct RangeName {
  std::string name;
  std::size_t calls = 0;
  Nanoseconds time = 0;
  ColorIndex color = 0;
  EventId example = kNoEvent;
};

struct ViewRangeAnswer {
  Nanoseconds start = 0, end = 0;
  std::size_t events = 0;
  std::vector<RangeThread> threads;
  std::vector<RangeDevice> devices;
  std::vector<RangeName> operators, kernels, python;

  std::string json() const;  // RangeAnswer in web/src/protocol.ts
};

Result<ViewRangeAnswer> view_range(const View& view, const ViewRangeRequest& request);

}  // namespace telltale::answers
