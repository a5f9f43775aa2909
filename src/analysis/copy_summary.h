// Copies between host and device: how many, how large, how fast, and how much of them nothing hides.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

enum class CopyDirection : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kOther };
std::string_view name_of(CopyDirection direction);

struct CopyCall {
  EventId event = kNoEvent;
  CopyDirection direction = CopyDirection::kOther;
  bool is_pageable = false;
  std::int64_t bytes = 0;  // 0 when not recorded
  Nanoseconds duration = 0;
  Nanoseconds exposed = 0;  // in which the device does nothing else
  Nanoseconds host_blocked =
      0;                    // how long the host stood in the call that made it, beyond enqueueing it, and in `wait`
  EventId wait = kNoEvent;  // the call right behind, in the same operator, that waits for the device
};

struct CopyRow {
  CopyDirection direction = CopyDirection::kOther;
  bool is_pageable = false;
  double calls = 0;  // a step, likewise below
  double bytes = 0;
  Nanoseconds duration_ns = 0, exposed_ns = 0, host_blocked_ns = 0;
  double bytes_per_second = 0;  // while copying
};

struct CopySummary {
  std::vector<CopyCall> calls;  // by event id, of the timing's steps
  std::vector<CopyRow> rows;    // by direction, pageable last
};

CopySummary copy_summary(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
