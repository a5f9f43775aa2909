#include "timeline/range_summary.h"

#include <algorithm>
#include <optional>
#include <set>

namespace telltale {
namespace {

// Times by name, for one of the lists.
class NameTimes {
 public:
  explicit NameTimes(const Trace& trace) : times_(trace.strings.size()) {}

  void add_call(StringId name, Nanoseconds time, EventId event) {
    Entry& entry = times_[name];
    ++entry.calls;
    entry.time += time;
    if (entry.example != kNoEvent && time <= entry.longest) return;
    entry.longest = time;
    entry.example = event;
  }
  // What is called within may overlap, so that more is taken away than there is.
  void take_away(StringId name, Nanoseconds time) { times_[name].time -= time; }

  std::vector<NamedTime> longest(std::size_t most) const {
    std::vector<NamedTime> all;
    for (StringId name = 0; name < times_.size(); ++name)
      if (const Entry& entry = times_[name]; entry.calls > 0)
        all.push_back({name, entry.calls, std::max<Nanoseconds>(0, entry.time), entry.example});
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    std::ranges::partial_sort(all, end, [](const NamedTime& a, const NamedTime& b) {
      return a.time != b.time ? a.time > b.time : a.name < b.name;
    });
    all.erase(end, all.end());
    return all;
  }

 private:
  struct Entry {
    std::size_t calls = 0;
    Nanoseconds time = 0, longest = 0;
    EventId example = kNoEvent;
  };
  std::vector<Entry> times_;
};

class RangeWalk {
 public:
  RangeWalk(const Timeline& timeline, Interval range)
      : timeline_(timeline),
        events_(timeline.trace().events),
        range_(range),
        operators_(timeline.trace()),
        kernels_(timeline.trace()),
        python_(timeline.trace()) {}

  void add_track(const ShownTrack& shown, RangeSummary& summary) {
    const Track& track = timeline_.trace().tracks[shown.id];
    covered_until_ = range_.begin;
    busy_ = 0;
    const std::vector<EventId> open = open_at_begin(shown);
    for (const EventId event : open) add_event(event);
    const auto starts = std::span(events_.start).subspan(track.first_event, track.event_count);
    const auto first = std::ranges::lower_bound(starts, range_.begin),
               last = std::ranges::lower_bound(starts, range_.end);
    for (auto at = first; at < last; ++at) add_event(static_cast<EventId>(at - starts.begin()) + track.first_event);
    const std::size_t count = open.size() + static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, last - first));
    summary.events += count;
    if (shown.kind == ShownTrackKind::kThread && count > 0) summary.threads.push_back({shown.id, busy_});
  }

  void finish(std::size_t most, RangeSummary& summary) const {
    summary.operators = operators_.longest(most);
    summary.kernels = kernels_.longest(most);
    summary.python = python_.longest(most);
  }

 private:
  // What begins before the range and reaches into it: on a lane at most the last event, but for the one that is shared.
  std::vector<EventId> open_at_begin(const ShownTrack& shown) const {
    std::vector<EventId> open;
    for (std::size_t lane = 0; lane < shown.lanes; ++lane) {
      const CompactIds::List ids = timeline_.lanes().lane(shown.id, lane).ids;
      const std::size_t end = ids.first_from([&](EventId id) { return events_.start[id] < range_.begin; });
      const bool is_shared = lane + 1 == kMostLanes;
      for (std::size_t at = is_shared || end == 0 ? 0 : end - 1; at < end; ++at)
        if (events_.end(ids[at]) > range_.begin) open.push_back(ids[at]);
    }
    std::ranges::sort(open);
    return open;
  }

  NameTimes* times_of(Kind kind) {
    if (kind == Kind::kOperator) return &operators_;
    if (kind == Kind::kPython || kind == Kind::kModule) return &python_;
    return is_device_work(kind) ? &kernels_ : nullptr;
  }

  void add_event(EventId event) {
    const Nanoseconds begin = std::max(events_.start[event], range_.begin);
    const Nanoseconds end = std::min(events_.end(event), range_.end);
    const EventId parent = events_.parent[event];
    if (NameTimes* times = times_of(events_.kind[event])) times->add_call(events_.name[event], end - begin, event);
    if (parent != kNoEvent) {
      if (NameTimes* times = times_of(events_.kind[parent])) times->take_away(events_.name[parent], end - begin);
      return;
    }
    busy_ += std::max<Nanoseconds>(0, end - std::max(begin, covered_until_));
    covered_until_ = std::max(covered_until_, end);
  }

  const Timeline& timeline_;
  const Events& events_;
  Interval range_;
  NameTimes operators_, kernels_, python_;
  Nanoseconds covered_until_ = 0, busy_ = 0;  // of the track
};

RangeSummary::DeviceTime device_time(const Timeline& timeline, DeviceId device, Interval range) {
  RangeSummary::DeviceTime time{.device = device, .by_cause = timeline.idle_times().by_cause(device, range)};
  for (const Nanoseconds each : time.by_cause) time.idle += each;
  const Nanoseconds begin = std::max<Nanoseconds>(range.begin, 0), end = std::min(range.end, timeline.trace().duration);
  time.busy = std::max<Nanoseconds>(0, end - begin - time.idle);
  return time;
}

}  // namespace

RangeSummary range_summary(const Timeline& timeline, Interval range, std::span<const TrackId> tracks,
                           std::size_t most) {
  const std::set<TrackId> wanted(tracks.begin(), tracks.end());
  RangeSummary summary;
  RangeWalk walk(timeline, range);
  std::set<DeviceId> devices;
  for (const ShownTrack& track : timeline.tracks()) {
    if (!wanted.empty() && !wanted.contains(track.id)) continue;
    const bool is_of_device = track.kind == ShownTrackKind::kStream || track.kind == ShownTrackKind::kGaps;
    if (is_of_device && track.device) devices.insert(*track.device);
    if (track.kind != ShownTrackKind::kGaps && track.kind != ShownTrackKind::kCounter) walk.add_track(track, summary);
  }
  walk.finish(most, summary);
  for (const DeviceId device : devices)
    if (timeline.idle_times().knows(device)) summary.devices.push_back(device_time(timeline, device, range));
  return summary;
}

}  // namespace telltale
