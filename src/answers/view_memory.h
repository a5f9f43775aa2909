// A device's memory over all of the trace or a part of it, by what it is for, and what stands there at its peak or at
// any other time. The numbers are made by what `telltale memory` calls, so that both say the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory_map.h"
#include "answers/view.h"
#include "base/error.h"
#include "memory/memory_peak.h"
#include "memory/memory_timeline.h"
#include "trace/trace.h"

namespace telltale::answers {

struct ViewMemoryRequest {
  std::optional<DeviceId> device;         // -1: the host; without it the device with the highest peak
  std::optional<Nanoseconds> at;          // without it the peak
  std::optional<Nanoseconds> start, end;  // of the curve; without them the trace's own
  std::int64_t points = std::int64_t{kMostTimelinePoints};
};

struct ViewMemoryAnswer {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const std::vector<DeviceMemory>> devices;
  const DeviceMemory* device = nullptr;  // one of them; null where there are none
  std::shared_ptr<const std::vector<UsedBlock>> blocks;
  std::vector<MemoryPoint> levels;
  std::vector<UsesAt> uses;                       // at their times, likewise below
  std::vector<std::vector<std::size_t>> largest;  // places in `blocks`
  MemoryPeak at;

  std::string json() const;
};

Result<ViewMemoryAnswer> view_memory(const View& view, const ViewMemoryRequest& request);

}  // namespace telltale::answers
