// Memory over the whole trace, and what lives at its peak or at any other time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory_map.h"
#include "answers/view.h"
#include "base/error.h"
#include "trace/trace.h"

namespace telltale::answers {

struct ViewMemoryRequest {
  std::optional<DeviceId> device;  // -1: the host; without it the device with the highest peak
  std::optional<Nanoseconds> at;   // without it the peak
  std::int64_t points = 1200;      // of the curve
};

struct ViewMemoryAnswer {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const std::vector<DeviceMemory>> devices;
  const DeviceMemory* device = nullptr;  // one of them; null where there are none
  Nanoseconds at = 0;
  std::size_t points = 0;
  LiveMemory live;

  std::string json() const;
};

Result<ViewMemoryAnswer> view_memory(const View& view, const ViewMemoryRequest& request);

}  // namespace telltale::answers
