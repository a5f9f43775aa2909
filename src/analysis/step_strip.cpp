#include "analysis/step_strip.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "analysis/host_timeline.h"

namespace telltale {
namespace {

// The steps as they follow each other, on the device where there is one. Its last step has no successor to end it.
std::vector<Interval> periods_of(const StepTiming& timing, bool has_device) {
  std::vector<Interval> periods;
  for (std::size_t i = 0; i < timing.steps.size(); ++i) {
    Interval period = timing.steps[i].host;
    if (has_device) {
      if (i + 1 == timing.steps.size()) break;
      period = {timing.steps[i].device.begin, timing.steps[i + 1].device.begin};
    }
    const bool is_whole = period.length() > 0 && timing.window.begin <= period.begin && period.end <= timing.window.end;
    if (is_whole) periods.push_back(period);
  }
  return periods;
}

// The one whose length is nearest to the mean, which is what a breakdown shows; of equals the last, which is warm.
Interval typical_period(const StepTiming& timing, bool has_device) {
  Interval typical = timing.window;
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (const Interval& period : periods_of(timing, has_device)) {
    const Nanoseconds distance = std::abs(period.length() - timing.period());
    if (distance > least) continue;
    least = distance;
    typical = period;
  }
  return typical;
}

Interval common(Interval one, Interval other) {
  return {std::max(one.begin, other.begin), std::min(one.end, other.end)};
}

// Takes spans by start and joins those that are too short to be seen.
template <typename Work, int kWorks>
class Coarsening {
 public:
  Coarsening(Interval window, std::size_t columns)
      : window_(window), column_(std::max<Nanoseconds>(1, window.length() / static_cast<Nanoseconds>(columns))) {}

  void add(Interval when, Work work, EventId event) {
    when = common(when, window_);
    if (when.length() <= 0) return;
    lane_.busy += when.length();
    if (when.length() >= column_) {
      flush();
      lane_.spans.push_back({when, work, event, 1, when.length()});
      return;
    }
    const Nanoseconds column = (when.begin - window_.begin) / column_;
    if (column != open_column_) flush();
    open_column_ = column;
    if (open_.events == 0) open_.when = when;
    ++open_.events;
    open_.when.end = std::max(open_.when.end, when.end);
    open_.busy += when.length();
    time_by_work_[static_cast<std::size_t>(work)] += when.length();
    if (when.length() > longest_) {
      longest_ = when.length();
      open_.event = event;
    }
  }

  StripLane<Work> finished(TrackId track) {
    flush();
    lane_.track = track;
    return std::move(lane_);
  }

 private:
  void flush() {
    if (open_.events > 0) {
      const auto most = std::ranges::max_element(time_by_work_);
      open_.work = static_cast<Work>(most - time_by_work_.begin());
      open_.busy = std::min(open_.busy, open_.when.length());  // works of one stream may overlap
      lane_.spans.push_back(open_);
    }
    open_ = {{}, {}, kNoEvent, 0, 0};
    time_by_work_.fill(0);
    longest_ = 0;
  }

  Interval window_;
  Nanoseconds column_;
  StripLane<Work> lane_;
  StripSpan<Work> open_{{}, {}, kNoEvent, 0, 0};
  Nanoseconds open_column_ = -1;
  Nanoseconds longest_ = 0;
  std::array<Nanoseconds, kWorks> time_by_work_{};
};

using DeviceCoarsening = Coarsening<WorkClass, kWorkClassCount>;
using HostCoarsening = Coarsening<HostWork, kHostWorkCount>;

StripLane<WorkClass> stream_lane(const Trace& trace, TrackId id, Interval window, std::size_t columns,
                                 WorkClassifier& class_of) {
  const Track& track = trace.tracks[id];
  DeviceCoarsening lane(window, columns);
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    const Interval when{trace.events.start[event], trace.events.end(event)};
    if (when.begin >= window.end) break;
    if (when.end <= window.begin || !is_device_work(trace.events.kind[event])) continue;
    lane.add(when, class_of(event), event);
  }
  return lane.finished(id);
}

StripLane<HostWork> thread_lane(const Trace& trace, TrackId id, Interval window, std::size_t columns,
                                const std::vector<HostWork>& host_work) {
  HostCoarsening lane(window, columns);
  HostSegment open;
  HostWork open_work = HostWork::kUnknown;
  const auto close = [&] {
    if (open_work != HostWork::kUnknown) lane.add(open.when, open_work, open.event);
  };
  for (const HostSegment& segment : host_segments(trace, id, window)) {
    const HostWork work = segment.event == kNoEvent ? HostWork::kUnknown : host_work[segment.event];
    if (work == open_work && segment.when.begin == open.when.end) {
      open.when.end = segment.when.end;
      continue;
    }
    close();
    open = segment;
    open_work = work;
  }
  close();
  return lane.finished(id);
}

// Without Python's frames, which are many and say little that the operators within do not.
bool is_shown_call(Kind kind) { return kind != Kind::kPython && kind != Kind::kInstant; }

// Lanes of one thread, by depth; `most` at most. Empty ones are left out.
std::vector<StripLane<HostWork>> call_lanes(const Trace& trace, TrackId id, Interval window, std::size_t columns,
                                            std::size_t most, const std::vector<HostWork>& host_work) {
  const Track& track = trace.tracks[id];
  std::vector<HostCoarsening> lanes(most, HostCoarsening(window, columns));
  std::vector<std::uint8_t> depths;  // by event of the track
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    if (trace.events.start[event] >= window.end) break;
    const EventId parent = trace.events.parent[event];
    std::size_t depth = 0;
    if (parent != kNoEvent)
      depth = depths[parent - track.first_event] + (is_shown_call(trace.events.kind[parent]) ? 1 : 0);
    depth = std::min(depth, most);
    depths.push_back(static_cast<std::uint8_t>(depth));
    if (depth == most || !is_shown_call(trace.events.kind[event])) continue;
    lanes[depth].add({trace.events.start[event], trace.events.end(event)}, host_work[event], event);
  }
  std::vector<StripLane<HostWork>> shown;
  for (std::size_t depth = 0; depth < most; ++depth) {
    StripLane<HostWork> lane = lanes[depth].finished(id);
    lane.depth = depth;
    if (!lane.spans.empty()) shown.push_back(std::move(lane));
  }
  return shown;
}

// Keeps the busiest lanes, and `first` whatever it does; returns how many others had work.
template <typename Work>
std::size_t keep_busiest(std::vector<StripLane<Work>>& lanes, std::size_t most, TrackId first) {
  std::erase_if(lanes, [](const StripLane<Work>& lane) { return lane.spans.empty(); });
  std::ranges::stable_sort(lanes, [first](const StripLane<Work>& one, const StripLane<Work>& other) {
    return std::pair(one.track == first, one.busy) > std::pair(other.track == first, other.busy);
  });
  const std::size_t all = lanes.size();
  lanes.resize(std::min(all, most));
  return all - lanes.size();
}

constexpr TrackId kNoTrack = static_cast<TrackId>(-1);

template <typename Work>
std::size_t spans_of(const std::vector<StripLane<Work>>& lanes) {
  std::size_t count = 0;
  for (const StripLane<Work>& lane : lanes) count += lane.spans.size();
  return count;
}

// Draws with wider and wider columns until there are few enough spans. A lane has at most two spans a column, and their
// number is limited, so this ends. Spans become fewer more slowly than columns: to leave out many at once costs no
// detail.
template <typename Draw>
void draw_within_limit(const StripOptions& options, Draw draw) {
  std::size_t columns = options.columns;
  for (std::size_t spans = draw(columns); spans > options.spans && columns > 1; spans = draw(columns)) {
    columns = std::max<std::size_t>(1, columns / std::max<std::size_t>(2, spans / options.spans));
  }
}

void draw_device(StepStrip& strip, const Trace& trace, const StepBreakdown& breakdown, const StripOptions& options) {
  WorkClassifier class_of(trace);
  draw_within_limit(options, [&](std::size_t columns) {
    strip.streams.clear();
    for (TrackId id = 0; id < trace.tracks.size(); ++id) {
      const Track& track = trace.tracks[id];
      if (track.kind != TrackKind::kStream || track.device != breakdown.device) continue;
      strip.streams.push_back(stream_lane(trace, id, strip.window, columns, class_of));
    }
    strip.streams_left_out = keep_busiest(strip.streams, options.streams, kNoTrack);

    HostCoarsening gaps(strip.window, columns);
    for (const IdleGap& gap : breakdown.gaps) gaps.add(gap.when, gap.cause, gap.blamed);
    strip.gaps = gaps.finished(kNoTrack).spans;
    return spans_of(strip.streams) + strip.gaps.size();
  });
}

void draw_threads(StepStrip& strip, const Trace& trace, const StepBreakdown& breakdown,
                  const std::vector<HostWork>& host_work, const StripOptions& options) {
  draw_within_limit(options, [&](std::size_t columns) {
    strip.threads.clear();
    for (TrackId id = 0; id < trace.tracks.size(); ++id) {
      if (trace.tracks[id].kind != TrackKind::kThread) continue;
      strip.threads.push_back(thread_lane(trace, id, strip.window, columns, host_work));
    }
    strip.threads_left_out = keep_busiest(strip.threads, options.threads, breakdown.thread);
    return spans_of(strip.threads);
  });
}

void draw_calls(StepStrip& strip, const Trace& trace, const std::vector<HostWork>& host_work,
                const StripOptions& options) {
  draw_within_limit(options, [&](std::size_t columns) {
    strip.calls.clear();
    for (const StripLane<HostWork>& thread : strip.threads) {
      for (auto& lane : call_lanes(trace, thread.track, strip.window, columns, options.calls, host_work))
        strip.calls.push_back(std::move(lane));
    }
    return spans_of(strip.calls);
  });
}

}  // namespace

StepStrip step_strip(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown,
                     const std::vector<HostWork>& host_work, const StripOptions& options) {
  StepStrip strip;
  strip.window = typical_period(timing, breakdown.has_device);
  if (strip.window.length() <= 0) return strip;
  if (breakdown.has_device) draw_device(strip, trace, breakdown, options);
  draw_threads(strip, trace, breakdown, host_work, options);
  if (options.calls > 0) draw_calls(strip, trace, host_work, options);
  return strip;
}

}  // namespace telltale
