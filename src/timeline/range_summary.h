// What happens in a range of time: how busy threads and devices are, why devices idle, and what takes the most time.
//
// Pure and thread-safe; linear in the events of the range, and in the trace's names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/host_work.h"
#include "base/intervals.h"
#include "timeline/timeline.h"

namespace telltale {

// All events of one name, as far as they lie in the range.
struct NamedTime {
  StringId name = kEmptyString;
  std::size_t calls = 0;
  Nanoseconds time = 0;        // without what is called within
  EventId example = kNoEvent;  // the one that lies in the range longest
};

struct RangeSummary {
  std::size_t events = 0;  // that reach into it

  struct Thread {
    TrackId track = 0;
    Nanoseconds busy = 0;  // in its outermost events, each instant once
  };
  std::vector<Thread> threads;  // those with events in the range, in the order of the timeline

  struct DeviceTime {
    DeviceId device = kHost;
    Nanoseconds busy = 0, idle = 0;
    std::array<Nanoseconds, kHostWorkCount> by_cause{};
  };
  std::vector<DeviceTime> devices;  // by id

  std::vector<NamedTime> operators, kernels, python;  // by falling time; kernels are all work of devices
};

// Of the given tracks, or of all where none are given; a device counts where its idle times or one of its streams do.
// The lists of names have at most `most`.
RangeSummary range_summary(const Timeline& timeline, Interval range, std::span<const TrackId> tracks,
                           std::size_t most = 20);

}  // namespace telltale
