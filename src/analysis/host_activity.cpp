#include "analysis/host_activity.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/host_timeline.h"
#include "analysis/recorder_tracks.h"

namespace telltale {
namespace {

ThreadActivity activity_of(const Trace& trace, TrackId track, Interval window, const std::vector<bool>& is_step) {
  ThreadActivity activity{track, std::string(trace.strings[trace.tracks[track].name]), 0, {}};
  std::unordered_map<StringId, ScopeTime> by_name;
  for (HostSegmentWalk walk(trace, track, window); walk.next();) {
    const HostSegment& segment = walk.segment();
    if (segment.event == kNoEvent || is_step[segment.event]) continue;
    activity.busy_ns += segment.when.length();
    by_name[trace.events.name[segment.event]].own_ns += segment.when.length();
  }
  const Track& events = trace.tracks[track];
  for (EventId event = events.first_event; event < events.first_event + events.event_count; ++event) {
    const bool begins_inside = trace.events.start[event] >= window.begin && trace.events.start[event] < window.end;
    if (!begins_inside || is_step[event] || trace.events.kind[event] == Kind::kInstant) continue;
    ScopeTime& scope = by_name[trace.events.name[event]];
    ++scope.calls;
    if (scope.longest == kNoEvent || trace.events.duration[event] > trace.events.duration[scope.longest])
      scope.longest = event;
  }
  for (auto& [name, scope] : by_name) {
    scope.name = trace.strings[name];
    activity.scopes.push_back(std::move(scope));
  }
  std::ranges::sort(activity.scopes, [](const ScopeTime& a, const ScopeTime& b) {
    return std::tie(b.own_ns, a.name) < std::tie(a.own_ns, b.name);
  });
  return activity;
}

}  // namespace

HostActivity host_activity(const Trace& trace, Interval window) {
  HostActivity host;
  host.window_ns = window.length();
  const std::vector<bool> is_step = step_marks(trace);
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    if (trace.tracks[track].kind != TrackKind::kThread || is_of_recorder(trace, trace.tracks[track])) continue;
    ThreadActivity activity = activity_of(trace, track, window, is_step);
    if (!activity.scopes.empty()) host.threads.push_back(std::move(activity));
  }
  std::ranges::stable_sort(host.threads, std::ranges::greater{}, &ThreadActivity::busy_ns);
  return host;
}

std::vector<bool> step_marks(const Trace& trace) {
  std::vector<bool> is_step(trace.events.size());
  for (const Step& step : trace.steps) is_step[step.event] = true;
  return is_step;
}

std::vector<Interval> busy_times(const Trace& trace, TrackId thread, const std::vector<bool>& is_step) {
  const Track& track = trace.tracks[thread];
  std::vector<Interval> times;
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    const EventId parent = trace.events.parent[event];
    if (is_step[event] || (parent != kNoEvent && !is_step[parent])) continue;
    times.push_back({trace.events.start[event], trace.events.end(event)});
  }
  return united(std::move(times));
}

namespace {

// The value that the window begins with was set before it, and counts from there on like those within.
std::optional<CounterSummary> summary_of(const Trace& trace, const CounterSeries& series, Interval window) {
  const Counters& counters = trace.counters;
  const auto time = [&](std::uint32_t row) { return std::max(counters.time[row], window.begin); };
  CounterSummary summary;
  double weighted = 0;
  Nanoseconds covered = 0;
  bool is_first = true;
  for (std::uint32_t row = series.first; row < series.first + series.count; ++row) {
    const bool is_last = row + 1 == series.first + series.count;
    const bool is_before = !is_last && counters.time[row + 1] <= window.begin;
    if (is_before || counters.time[row] > window.end) continue;
    const double value = counters.value[row];
    if (counters.time[row] >= window.begin) ++summary.values;
    summary.minimum = is_first ? value : std::min(summary.minimum, value);
    summary.maximum = is_first ? value : std::max(summary.maximum, value);
    summary.last = value;
    is_first = false;
    const Nanoseconds until = is_last ? window.end : std::min(time(row + 1), window.end);
    const Nanoseconds held = std::max<Nanoseconds>(0, until - time(row));
    weighted += value * static_cast<double>(held);
    covered += held;
  }
  if (summary.values == 0) return std::nullopt;
  summary.mean = covered > 0 ? weighted / static_cast<double>(covered) : summary.last;
  summary.name = trace.strings[series.name];
  summary.series = trace.strings[series.series];
  return summary;
}

}  // namespace

std::vector<CounterSummary> counter_summaries(const Trace& trace, Interval window) {
  std::vector<CounterSummary> summaries;
  for (const CounterSeries& series : trace.counters.series)
    if (auto summary = summary_of(trace, series, window)) summaries.push_back(std::move(*summary));
  return summaries;
}

}  // namespace telltale
