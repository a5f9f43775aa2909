// What a trace consists of: all that the page needs to know before it draws anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/view.h"
#include "answers/view_colors.h"
#include "base/error.h"
#include "timeline/timeline.h"

namespace telltale::answers {

struct ViewDevice {
  DeviceId id = 0;
  std::string name;
};

struct ViewProcess {
  ProcessId id = 0;
  std::string name;
  std::optional<std::int64_t> pid, rank;
};

struct ViewStep {
  std::int64_t index = 0;
  Nanoseconds start = 0, duration = 0;
};

struct ViewTraceRequest {};

struct ViewTraceAnswer {
  std::string file, format, device_word;
  Nanoseconds duration = 0;
  std::uint64_t events = 0;
  std::vector<ViewDevice> devices;
  std::vector<ViewProcess> processes;
  std::vector<ShownTrack> tracks;
  std::vector<ViewStep> steps;  // none where nothing repeats
  bool has_memory = false, has_modules = false, has_stacks = false;

  std::string json() const;  // TraceShape in web/src/protocol.ts
};

Result<ViewTraceAnswer> view_trace(const View& view, const ViewTraceRequest& request = {});

}  // namespace telltale::answers
