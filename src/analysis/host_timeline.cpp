#include "analysis/host_timeline.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace telltale {

HostSegmentWalk::HostSegmentWalk(const Trace& trace, TrackId thread, Interval window)
    : events_(trace.events),
      window_(window),
      next_(trace.tracks[thread].first_event),
      end_(trace.tracks[thread].first_event + trace.tracks[thread].event_count),
      segment_{{window.begin, window.begin}, kNoEvent} {
  open_and_close();
}

bool HostSegmentWalk::next() {
  if (segment_.when.end >= window_.end) return false;
  segment_ = {{segment_.when.end, segment_.when.end}, innermost()};
  // Events without a duration change nothing.
  do {
    segment_.when.end = next_change();
    open_and_close();
  } while (segment_.when.end < window_.end && innermost() == segment_.event);
  return true;
}

void HostSegmentWalk::open_and_close() {
  const Nanoseconds now = segment_.when.end;
  while (!open_.empty() && events_.end(open_.back()) <= now) open_.pop_back();
  for (; next_ < end_ && events_.start[next_] <= now; ++next_)
    if (events_.end(next_) > now) open_.push_back(next_);
}

Nanoseconds HostSegmentWalk::next_change() const {
  Nanoseconds change = window_.end;
  if (!open_.empty()) change = std::min(change, events_.end(open_.back()));
  if (next_ < end_) change = std::min(change, events_.start[next_]);
  return change;
}

std::vector<HostSegment> host_segments(const Trace& trace, TrackId thread, Interval window) {
  std::vector<HostSegment> segments;
  HostSegmentWalk walk(trace, thread, window);
  while (walk.next()) segments.push_back(walk.segment());
  return segments;
}

namespace {

// Two threads that work at the same time for more than this share of the lesser one's work do not hand over.
constexpr double kOverlapOfIndependentThreads = 0.3;

// How much an event says that its thread works: nothing open, waiting, in Python, in an operator or a call.
enum Activity { kNone, kWaits, kInPython, kWorks };

Activity activity_in(EventId event, const std::vector<HostWork>& host_work) {
  if (event == kNoEvent) return kNone;
  if (host_work[event] == HostWork::kWaiting) return kWaits;
  return host_work[event] == HostWork::kPython || host_work[event] == HostWork::kUnknown ? kInPython : kWorks;
}

std::vector<Interval> working_time(const Trace& trace, TrackId thread, Interval window,
                                   const std::vector<HostWork>& host_work) {
  std::vector<Interval> working;
  HostSegmentWalk walk(trace, thread, window);
  while (walk.next()) {
    const auto& [when, event] = walk.segment();
    if (activity_in(event, host_work) < kWorks) continue;
    if (!working.empty() && working.back().end == when.begin)
      working.back().end = when.end;
    else
      working.push_back(when);
  }
  return working;
}

Nanoseconds common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return total_length(a) + total_length(b) - total_length(united(std::move(all)));
}

// Of equals the one with more events, then the first.
std::optional<TrackId> thread_with_most_operators(const Trace& trace) {
  std::vector<EventId> operators(trace.tracks.size());
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kOperator) ++operators[trace.events.track[event]];
  const auto size = [&](TrackId track) { return std::pair(operators[track], trace.tracks[track].event_count); };
  std::optional<TrackId> most;
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    if (trace.tracks[track].kind != TrackKind::kThread) continue;
    if (!most || size(track) > size(*most)) most = track;
  }
  return most;
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

  if (const std::optional<TrackId> busiest = thread_with_most_operators(trace)) threads = {*busiest};
  return threads;
}

HostTimeline::HostTimeline(const Trace& trace, const std::vector<TrackId>& threads, Interval window,
                           const std::vector<HostWork>& host_work)
    : host_work_(host_work), window_(window), segment_{{window.begin, window.begin}, kNoEvent} {
  for (const TrackId thread : threads) threads_.emplace_back(trace, thread, window).next();
}

bool HostTimeline::next() {
  if (segment_.when.end >= window_.end) return false;
  segment_ = {{segment_.when.end, segment_.when.end}, shown()};
  do {
    advance();
  } while (segment_.when.end < window_.end && shown() == segment_.event);
  return true;
}

EventId HostTimeline::shown() const {
  EventId shown = kNoEvent;
  Activity most = kNone;
  for (const HostSegmentWalk& thread : threads_) {
    const Activity activity = activity_in(thread.segment().event, host_work_);
    if (activity <= most) continue;
    most = activity;
    shown = thread.segment().event;
  }
  return shown;
}

// To where the next segment of any thread begins.
void HostTimeline::advance() {
  Nanoseconds change = window_.end;
  for (const HostSegmentWalk& thread : threads_) change = std::min(change, thread.segment().when.end);
  for (HostSegmentWalk& thread : threads_)
    if (thread.segment().when.end == change) thread.next();
  segment_.when.end = change;
}

std::vector<std::vector<TrackId>> independent_lanes(const Trace& trace, const std::vector<TrackId>& threads,
                                                    Interval window, const std::vector<HostWork>& host_work) {
  struct Lane {
    std::vector<TrackId> threads;
    std::vector<Interval> working;
  };
  std::vector<Lane> lanes;
  for (const TrackId thread : threads) {
    std::vector<Interval> working = working_time(trace, thread, window, host_work);
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
