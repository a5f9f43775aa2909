// A typical step as a picture: what each stream and each host thread does in it, coarse enough to be drawn. A picture
// to zoom into has more detail, and the calls of the threads.
//
// Pure and thread-safe; linear in the events of the tracks that are shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/breakdown.h"
#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "analysis/work_class.h"
#include "trace/trace.h"

namespace telltale {

// One event, or several short ones that a drawing could not tell apart.
template <typename Work>
struct StripSpan {
  Interval when;
  Work work{};               // of most of its time
  EventId event = kNoEvent;  // the longest of its events
  std::uint32_t events = 1;
  Nanoseconds busy = 0;  // of `when`; all of it for a single event

  double share_busy() const { return static_cast<double>(busy) / static_cast<double>(when.length()); }
};

template <typename Work>
struct StripLane {
  TrackId track = 0;
  Nanoseconds busy = 0;
  std::vector<StripSpan<Work>> spans;  // by start
  std::size_t depth = 0;               // of calls: in how many others they are made
};

struct StepStrip {
  Interval window;                                         // of the step whose length is nearest to the mean
  std::vector<StripLane<WorkClass>> streams;               // of the breakdown's device; the busiest first
  std::vector<StripLane<HostWork>> threads;                // that of the breakdown first, then the busiest
  std::vector<StripLane<HostWork>> calls;                  // of these threads, by depth, without Python's frames
  std::vector<StripSpan<HostWork>> gaps;                   // of the device, by cause; none without a device
  std::size_t streams_left_out = 0, threads_left_out = 0;  // with work in the window, but less than those shown
};

struct StripOptions {
  std::size_t columns = 700;  // events shorter than a column are drawn together with others of the same column
  std::size_t spans = 2000;   // at most, of all streams and gaps, of all threads, of all calls: else columns are wider
  std::size_t streams = 4, threads = 4;
  std::size_t calls = 0;  // how deep they are shown
};
inline constexpr StripOptions kStripToZoomInto{.columns = 50'000, .spans = 4000, .calls = 6};

StepStrip step_strip(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown,
                     const std::vector<HostWork>& host_work, const StripOptions& options = {});

}  // namespace telltale
