// The times of a whole trace in which its devices have nothing to do, by cause, so that they can be drawn at any zoom
// and added up over any range.
//
// What lies within the steps that analyze takes is divided as the breakdown divides it, to the nanosecond; what lies
// before and behind them, in the same way. Where the recorder paused, no cause is known. Made in time linear in events;
// then immutable and thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/breakdown.h"
#include "analysis/host_work.h"
#include "timeline/compact_times.h"
#include "timeline/span_sums.h"
#include "trace/trace.h"

namespace telltale {

class IdleTimes {
 public:
  explicit IdleTimes(const Trace& trace);

  // Calls visit(DrawnSpan, HostWork cause, EventId blamed) for what is drawn of a device: see SpanLine::draw. Cause and
  // blame are those of the longest.
  template <typename Visit>
  void draw(DeviceId device, unsigned level, Interval window, Visit visit) const {
    const Gaps* gaps = find(device);
    if (gaps == nullptr) return;
    SpanLine(*gaps, std::span(gaps->sums)).draw(level, window, [&](const DrawnSpan& drawn) {
      visit(drawn, gaps->causes[drawn.longest], gaps->blamed[drawn.longest]);
    });
  }

  // How long the device idles within the window, by cause.
  std::array<Nanoseconds, kHostWorkCount> by_cause(DeviceId device, Interval window) const;

  std::size_t memory_bytes() const;

 private:
  // Of one device, in order.
  struct Gaps {
    DeviceId device = kHost;
    CompactTimes starts;
    CompactDurations durations;
    std::vector<HostWork> causes;
    std::vector<EventId> blamed;
    std::vector<SpanSum> sums;

    void add(const IdleGap& gap, const std::vector<Interval>& paused);
    std::size_t size() const { return starts.size(); }
    Nanoseconds start(std::size_t i) const { return starts[i]; }
    Nanoseconds duration(std::size_t i) const { return durations[i]; }
  };
  const Gaps* find(DeviceId device) const;

  std::vector<Gaps> devices_;
};

// Those with streams that have events, by id.
std::vector<DeviceId> devices_at_work(const Trace& trace);

}  // namespace telltale
