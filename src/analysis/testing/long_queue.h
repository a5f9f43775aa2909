// A program whose host is far ahead of its device, on a driver that holds only so many launches.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/testing/program_sketch.h"

namespace telltale {

// A host that needs 5 µs for a launch and kernels of 100 µs, on a driver that holds so many launches: a launch returns
// when the one that is `capacity` before it has begun.
struct LongQueue {
  static constexpr Nanoseconds kLaunch = 5 * kMicrosecond, kKernel = 100 * kMicrosecond;
  TraceSketch sketch;
  TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  std::vector<TraceSketch::Handle> calls, kernels;
  std::vector<Nanoseconds> begins;
  Nanoseconds now = 0, device_end = 0;

  // Launched before the trace begins.
  void launched_before(int count) {
    for (int i = 0; i < count; ++i) {
      begins.push_back(device_end);
      sketch.event(stream, Kind::kKernel, "kernel", device_end, device_end + kKernel);
      device_end += kKernel;
    }
  }

  Nanoseconds room_at(std::size_t capacity) const {
    return begins.size() < capacity ? 0 : begins[begins.size() - capacity];
  }

  void launch(std::size_t capacity) {
    const Nanoseconds returns = std::max(now, room_at(capacity)) + kLaunch;
    calls.push_back(sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", now, returns));
    begins.push_back(std::max(device_end, returns));
    kernels.push_back(
        sketch.work(stream, Kind::kKernel, "kernel", begins.back(), begins.back() + kKernel, calls.back()));
    device_end = begins.back() + kKernel;
    now = returns;
  }

  // `launches` each.
  void steps(int count, int launches, std::size_t capacity) {
    for (int step = 0; step < count; ++step) {
      const Nanoseconds begin = now;
      for (int i = 0; i < launches; ++i) launch(capacity);
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, now);
    }
  }
};

}  // namespace telltale
