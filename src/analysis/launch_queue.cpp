#include "analysis/launch_queue.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "analysis/robust_statistics.h"
#include "base/merge_runs.h"

namespace telltale {
namespace {

constexpr std::size_t kMostPoints = 4000;

struct Waits {
  std::vector<Nanoseconds> from, to;   // when works begin and cease to wait, clipped to the window; each ascending
  std::vector<Nanoseconds> latencies;  // from the start of a call to its kernel's, where nothing stood before it
};

void add_stream(const Trace& trace, const Track& stream, Interval window, Waits& waits) {
  const Events& events = trace.events;
  Nanoseconds free_from = INT64_MIN;  // when the stream has done all before this work
  for (EventId event = stream.first_event; event < stream.first_event + stream.event_count; ++event) {
    if (!is_device_work(events.kind[event])) continue;
    const Nanoseconds start = events.start[event];
    const Nanoseconds was_free_from = free_from;
    free_from = std::max(free_from, events.end(event));
    const EventId call = trace.launch_of(event);
    if (call == kNoEvent) continue;
    const Nanoseconds from = std::clamp(events.end(call), window.begin, window.end);
    const Nanoseconds to = std::clamp(start, window.begin, window.end);
    if (from < to) {
      waits.from.push_back(from);
      waits.to.push_back(to);
    }
    const Nanoseconds called = events.start[call];
    const bool is_first = events.kind[event] == Kind::kKernel && was_free_from <= called && called <= start;
    if (is_first && window.begin <= called && called < window.end) waits.latencies.push_back(start - called);
  }
}

// The depth at all times at which it changes, each once.
std::vector<LaunchQueue::Point> depths_of(const Waits& waits, Interval window) {
  std::vector<LaunchQueue::Point> points = {{window.begin, 0}};
  std::int32_t depth = 0;
  std::size_t begun = 0;
  const auto add = [&](Nanoseconds time) {
    if (points.back().time == time)
      points.back().depth = depth;
    else
      points.push_back({time, depth});
  };
  for (const Nanoseconds end : waits.to) {
    for (; begun < waits.from.size() && waits.from[begun] <= end; ++begun) {
      ++depth;
      add(waits.from[begun]);
    }
    --depth;
    add(end);
  }
  return points;
}

void measure(LaunchQueue& queue, Interval window) {
  if (window.length() <= 0) return;
  double depth_time = 0, empty_time = 0;
  for (std::size_t i = 0; i < queue.points.size(); ++i) {
    const Nanoseconds end = i + 1 < queue.points.size() ? queue.points[i + 1].time : window.end;
    const auto time = static_cast<double>(end - queue.points[i].time);
    depth_time += time * queue.points[i].depth;
    if (queue.points[i].depth <= 1) empty_time += time;
  }
  queue.mean_depth = depth_time / static_cast<double>(window.length());
  queue.share_empty = empty_time / static_cast<double>(window.length());
}

// The deepest and the shallowest point of each of equally long stretches, in order.
std::vector<LaunchQueue::Point> thinned(const std::vector<LaunchQueue::Point>& points, Interval window) {
  if (points.size() <= kMostPoints) return points;
  const Nanoseconds length = window.length() / static_cast<Nanoseconds>(kMostPoints / 2) + 1;
  std::vector<LaunchQueue::Point> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const Nanoseconds stretch = (begin->time - window.begin) / length;
    const auto end = std::find_if(begin, points.end(), [&](const LaunchQueue::Point& point) {
      return (point.time - window.begin) / length != stretch;
    });
    const auto [least, most] = std::minmax_element(
        begin, end, [](const LaunchQueue::Point& a, const LaunchQueue::Point& b) { return a.depth < b.depth; });
    kept.push_back(*std::min(least, most));
    if (least != most) kept.push_back(*std::max(least, most));
    begin = end;
  }
  return kept;
}

Waits waits_of(const Trace& trace, Interval window, DeviceId device) {
  Waits waits;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream && track.device == device) add_stream(trace, track, window, waits);
  merge_runs(std::span(waits.from), std::less<>{});
  merge_runs(std::span(waits.to), std::less<>{});
  return waits;
}

}  // namespace

std::vector<LaunchQueue::Point> queue_depths(const Trace& trace, Interval window, DeviceId device) {
  return depths_of(waits_of(trace, window, device), window);
}

LaunchQueue launch_queue(const Trace& trace, const StepTiming& timing, DeviceId device) {
  Waits waits = waits_of(trace, timing.window, device);
  LaunchQueue queue;
  queue.points = depths_of(waits, timing.window);
  measure(queue, timing.window);
  queue.points = thinned(queue.points, timing.window);
  if (!waits.latencies.empty()) queue.launch_latency = quantile(std::move(waits.latencies), 1, 2);
  return queue;
}

}  // namespace telltale
