#include "analysis/host_timeline.h"

#include <algorithm>

namespace telltale {
namespace {

// Two threads that work at the same time for more than this share of the lesser one's work do not hand over.
constexpr double kOverlapOfIndependentThreads = 0.3;

// How much a segment says that its thread works: nothing open, in Python, in an operator or a call.
int activity_of(const HostSegment& segment, const std::vector<HostWork>& host_work) {
  if (segment.event == kNoEvent) return 0;
  return host_work[segment.event] == HostWork::kPython || host_work[segment.event] == HostWork::kUnknown ? 1 : 2;
}

// Walks two segmentations of the same window side by side.
template <typename Visit>
void walk_both(const std::vector<HostSegment>& a, const std::vector<HostSegment>& b, Visit visit) {
  std::size_t i = 0, j = 0;
  Nanoseconds at = a.empty() ? 0 : a.front().when.begin;
  while (i < a.size() && j < b.size()) {
    const Nanoseconds end = std::min(a[i].when.end, b[j].when.end);
    visit(Interval{at, end}, a[i], b[j]);
    at = end;
    if (a[i].when.end == end) ++i;
    if (b[j].when.end == end) ++j;
  }
}

std::vector<HostSegment> merged(const std::vector<HostSegment>& preferred, const std::vector<HostSegment>& other,
                                const std::vector<HostWork>& host_work) {
  std::vector<HostSegment> both;
  both.reserve(preferred.size() + other.size());
  walk_both(preferred, other, [&](Interval when, const HostSegment& a, const HostSegment& b) {
    const EventId event = activity_of(a, host_work) >= activity_of(b, host_work) ? a.event : b.event;
    if (!both.empty() && both.back().event == event)
      both.back().when.end = when.end;
    else
      both.push_back({when, event});
  });
  return both;
}

std::vector<Interval> working_time(const std::vector<HostSegment>& segments, const std::vector<HostWork>& host_work) {
  std::vector<Interval> working;
  for (const HostSegment& segment : segments)
    if (activity_of(segment, host_work) == 2) working.push_back(segment.when);
  return united(std::move(working));
}

Nanoseconds common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return total_length(a) + total_length(b) - total_length(united(std::move(all)));
}

}  // namespace

std::vector<TrackId> launching_threads(const Trace& trace, Interval window) {
  std::vector<EventId> launches(trace.tracks.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (!is_device_work(trace.events.kind[event])) continue;
    const EventId launch = trace.launch_of(event);
    if (launch == kNoEvent || is_on_device(trace.events.kind[launch])) continue;
    if (trace.events.start[launch] >= window.begin && trace.events.start[launch] < window.end)
      ++launches[trace.events.track[launch]];
  }
  std::vector<TrackId> threads;
  for (TrackId track = 0; track < launches.size(); ++track)
    if (launches[track] > 0) threads.push_back(track);
  std::stable_sort(threads.begin(), threads.end(), [&](TrackId a, TrackId b) { return launches[a] > launches[b]; });
  if (!threads.empty()) return threads;

  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    if (trace.tracks[track].kind != TrackKind::kThread) continue;
    if (threads.empty() || trace.tracks[track].event_count > trace.tracks[threads[0]].event_count) threads = {track};
  }
  return threads;
}

std::vector<HostSegment> host_timeline(const Trace& trace, const std::vector<TrackId>& threads, Interval window,
                                       const std::vector<HostWork>& host_work) {
  std::vector<HostSegment> timeline;
  for (const TrackId thread : threads) {
    std::vector<HostSegment> segments = host_segments(trace, thread, window);
    timeline = timeline.empty() ? std::move(segments) : merged(timeline, segments, host_work);
  }
  return timeline;
}

std::vector<std::vector<TrackId>> independent_lanes(const Trace& trace, const std::vector<TrackId>& threads,
                                                    Interval window, const std::vector<HostWork>& host_work) {
  struct Lane {
    std::vector<TrackId> threads;
    std::vector<Interval> working;
  };
  std::vector<Lane> lanes;
  for (const TrackId thread : threads) {
    std::vector<Interval> working = working_time(host_segments(trace, thread, window), host_work);
    const auto hands_over = [&](const Lane& lane) {
      const auto lesser = static_cast<double>(std::min(total_length(working), total_length(lane.working)));
      return static_cast<double>(common_length(working, lane.working)) <= kOverlapOfIndependentThreads * lesser;
    };
    const auto lane = std::find_if(lanes.begin(), lanes.end(), hands_over);
    if (lane == lanes.end()) {
      lanes.push_back({{thread}, std::move(working)});
      continue;
    }
    lane->threads.push_back(thread);
    lane->working.insert(lane->working.end(), working.begin(), working.end());
    lane->working = united(std::move(lane->working));
  }
  std::vector<std::vector<TrackId>> groups;
  groups.reserve(lanes.size());
  for (Lane& lane : lanes) groups.push_back(std::move(lane.threads));
  return groups;
}

}  // namespace telltale
