// Where a step's time goes: every instant is device work of one class, or idle for one cause.
#pragma once

#include <array>
#include <string>
#include <variant>
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

// One line of a breakdown.
struct BreakdownPart {
  std::variant<WorkClass, HostWork> what;
  bool is_idle = false;  // the device waits meanwhile; never so where there is none
  Nanoseconds ns = 0;    // a step
  double percent = 0;    // of the step

  std::string category() const;  // "matmul", "idle_sync"; without a device "sync"
};

struct StepBreakdown {
  bool has_device = false;  // without one, no work has a class, and what the host does divides its busiest thread
  DeviceId device = kHost;  // the busiest one
  TrackId thread = 0;       // the thread that launches most of its work, or the busiest one
  Nanoseconds step = 0;     // what the parts add up to, exactly
  // A step, by WorkClass; where works overlap, of the one that began first.
  std::array<Nanoseconds, kWorkClassCount> busy{};
  // The rest of the step, by what the host does: the causes of the device's idle time or, where there is no device, all
  // the time of the thread.
  std::array<Nanoseconds, kHostWorkCount> by_host_work{};
  std::vector<IdleGap> gaps;  // the same over the whole window, in order
  // The operator that the host spends the most time in, without what it calls; empty with a device, and without any.
  std::string longest_operator;

  // What is not zero: work of the device, then what the host does, each by falling time. Adds up to the step.
  std::vector<BreakdownPart> parts() const;

  Nanoseconds busy_total() const;  // of the device, likewise below; 0 where there is none
  Nanoseconds idle_total() const { return has_device ? step - busy_total() : 0; }
  double busy_percent() const;
  double idle_percent() const;
};

// Pure and thread-safe; linear in events, but for merging the work of several streams by start.
StepBreakdown step_breakdown(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work);

// The times within a window in which a device has nothing to do, in order: those of the breakdown, for a window and a
// device of one's own.
std::vector<IdleGap> idle_gaps(const Trace& trace, DeviceId device, Interval window,
                               const std::vector<HostWork>& host_work);

// 0 of nothing.
double percent_of(Nanoseconds part, Nanoseconds whole);

}  // namespace telltale
