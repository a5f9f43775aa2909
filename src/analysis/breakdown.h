// Where a step's time goes: every instant is device work of one class, or idle for one cause.
#pragma once

#include <array>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "analysis/work_class.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// A stretch in which the device has nothing to do, or a part of one with a single cause.
struct IdleGap {
  Interval when;
  HostWork cause = HostWork::kUnknown;
  EventId blamed = kNoEvent;  // what the host was in for most of it; for kSync the waiting call, its refill included
  EventId next = kNoEvent;    // the device work that ends the gap; kNoEvent at the end of the window
};

struct StepBreakdown {
  bool has_device = false;  // without one, the classes below stay empty and the causes divide the busiest thread
  DeviceId device = kHost;  // the busiest one
  TrackId thread = 0;       // the thread that launches most of its work, or the busiest one
  Nanoseconds step = 0;     // what the parts add up to, exactly
  // A step, by WorkClass; where works overlap, of the one that began first.
  std::array<Nanoseconds, kWorkClassCount> busy{};
  std::array<Nanoseconds, kHostWorkCount> idle{};  // a step, by cause
  std::vector<IdleGap> gaps;                       // over the whole window, in order

  Nanoseconds busy_total() const;
  Nanoseconds idle_total() const { return step - busy_total(); }
};

// Pure and thread-safe; linear in events, but for merging the work of several streams by start.
StepBreakdown step_breakdown(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work);

}  // namespace telltale
