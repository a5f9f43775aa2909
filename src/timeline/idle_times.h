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

// By HostWork.
using CauseTimes = std::array<Nanoseconds, kHostWorkCount>;

// A gap, or several that are drawn together.
struct DrawnGaps {
  DrawnSpan span;
  CauseTimes by_cause{};                // adds up to what is busy of the span, which is idle time here
  HostWork cause = HostWork::kUnknown;  // of the longest, likewise below
  EventId blamed = kNoEvent;
};

class IdleTimes {
 public:
  explicit IdleTimes(const Trace& trace);

  // Calls visit(DrawnGaps) for what is drawn of a device: see SpanLine::draw.
  template <typename Visit>
  void draw(DeviceId device, unsigned level, Interval window, Visit visit) const {
    const Gaps* gaps = find(device);
    if (gaps == nullptr) return;
    SpanLine(*gaps, std::span(gaps->sums)).draw(level, window, [&](const DrawnSpan& drawn) {
      visit(DrawnGaps{drawn, gaps->by_cause(drawn), gaps->causes[drawn.longest], gaps->blamed[drawn.longest]});
    });
  }

  // Whether it works at some time; of others, nobody knows when they idle.
  bool knows(DeviceId device) const { return find(device) != nullptr; }

  // How long the device idles within the window, by cause.
  CauseTimes by_cause(DeviceId device, Interval window) const;

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
    std::vector<CauseTimes> totals;  // of all gaps before every 64th

    void add(const IdleGap& gap, const std::vector<Interval>& paused);
    std::size_t size() const { return starts.size(); }
    Nanoseconds start(std::size_t i) const { return starts[i]; }
    Nanoseconds duration(std::size_t i) const { return durations[i]; }
    void fill_totals();
    CauseTimes before(std::size_t i) const;
    CauseTimes by_cause(const DrawnSpan& drawn) const;
  };
  const Gaps* find(DeviceId device) const;

  std::vector<Gaps> devices_;
};

// Those whose streams have work, by id: a stream may hold nothing but what was projected there, such as annotations.
std::vector<DeviceId> devices_at_work(const Trace& trace);

}  // namespace telltale
