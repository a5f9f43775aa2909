#include "analysis/step_timing.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/full_queue.h"
#include "analysis/host_work.h"

namespace telltale {
namespace {

constexpr std::string_view kOptimizerStep = "Optimizer.step";
// A call at the top of a thread that comes less often than this is no pattern.
constexpr std::size_t kLeastRepeats = 3;

// Of a step: where its first device work had to wait this long behind earlier work, the host was ahead when the
// recording began, and its marks contain waiting for work of steps that were not recorded.
constexpr double kBacklogOfHostAhead = 0.4;

std::vector<StepSpan> marked_steps(const Trace& trace, const StepRange& range) {
  std::vector<StepSpan> spans;
  for (const Step& step : trace.steps)
    if (range.contains(step)) spans.push_back({step.index, {step.start, step.start + step.duration}});
  return spans;
}

// From each of the ascending times to the next one.
std::vector<StepSpan> steps_between(const std::vector<Nanoseconds>& times) {
  std::vector<StepSpan> spans;
  for (std::size_t i = 1; i < times.size(); ++i)
    spans.push_back({static_cast<std::int64_t>(i - 1), {times[i - 1], times[i]}});
  return spans;
}

// A program with several optimizers takes a step of each in turn: one of them is enough to tell its steps apart.
std::vector<StepSpan> steps_of_optimizer(const Trace& trace) {
  std::map<StringId, std::vector<Nanoseconds>> ends_by_name;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kAnnotation && trace.name(event).starts_with(kOptimizerStep))
      ends_by_name[trace.events.name[event]].push_back(trace.events.end(event));
  std::vector<Nanoseconds> chosen;
  for (auto& [name, ends] : ends_by_name) {
    std::sort(ends.begin(), ends.end());
    if (chosen.empty() || std::pair(ends.size(), ends.back()) > std::pair(chosen.size(), chosen.back())) chosen = ends;
  }
  return steps_between(chosen);
}

TrackId busiest_thread(const Trace& trace) {
  TrackId busiest = 0;
  EventId most = 0;
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    if (trace.tracks[track].kind != TrackKind::kThread || trace.tracks[track].event_count <= most) continue;
    busiest = track;
    most = trace.tracks[track].event_count;
  }
  return busiest;
}

// Of the calls nearest to the top of the busiest thread, the one that repeats and covers the most time.
std::vector<StepSpan> steps_of_pattern(const Trace& trace) {
  if (trace.tracks.empty()) return {};
  const Track& track = trace.tracks[busiest_thread(trace)];
  struct Repeated {
    std::vector<Nanoseconds> starts;
    Nanoseconds total = 0;
    int depth = 0;
  };
  constexpr int kDeepest = 12;  // a program's own loop is rarely further down than its entry points are deep
  std::unordered_map<StringId, Repeated> by_name;
  std::vector<int> depth(track.event_count);
  for (EventId i = 0; i < track.event_count; ++i) {
    const EventId event = track.first_event + i;
    const EventId parent = trace.events.parent[event];
    depth[i] = parent == kNoEvent ? 0 : depth[parent - track.first_event] + 1;
    if (depth[i] > kDeepest || is_on_device(trace.events.kind[event])) continue;
    Repeated& repeated = by_name[trace.events.name[event]];
    if (repeated.starts.empty()) repeated.depth = depth[i];
    if (repeated.depth != depth[i]) continue;
    repeated.starts.push_back(trace.events.start[event]);
    repeated.total += trace.events.duration[event];
  }
  const auto is_better = [](const Repeated& a, const Repeated& b) {
    return std::tuple(-a.depth, a.total, b.starts.front()) > std::tuple(-b.depth, b.total, a.starts.front());
  };
  const Repeated* best = nullptr;
  for (const auto& [name, repeated] : by_name) {
    if (repeated.starts.size() < kLeastRepeats || repeated.total * 2 < trace.duration) continue;
    if (best == nullptr || is_better(repeated, *best)) best = &repeated;
  }
  return best == nullptr ? std::vector<StepSpan>{} : steps_between(best->starts);
}

// Work without a launch in the trace was launched before the recording began, and belongs to no step.
void place_device_work(const Trace& trace, StepTiming& timing) {
  const Events& events = trace.events;
  std::vector<std::vector<Interval>> busy(timing.steps.size());
  std::vector<Nanoseconds> first_launch(timing.steps.size());
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event]) || events.cause[event] == kNoEvent) continue;
    const Nanoseconds launched = events.start[events.cause[event]];
    const int step = step_at(timing, launched);
    if (step < 0) continue;
    std::vector<Interval>& work = busy[static_cast<std::size_t>(step)];
    if (work.empty() || launched < first_launch[static_cast<std::size_t>(step)]) {
      first_launch[static_cast<std::size_t>(step)] = launched;
      timing.steps[static_cast<std::size_t>(step)].backlog = events.start[event] - launched;
    }
    work.push_back({events.start[event], events.end(event)});
  }
  std::vector<Interval> of_all_steps;
  for (std::size_t i = 0; i < timing.steps.size(); ++i) {
    const std::vector<Interval> work = united(std::move(busy[i]));
    timing.steps[i].device_busy = total_length(work);
    if (!work.empty()) timing.steps[i].device = {work.front().begin, work.back().end};
    of_all_steps.insert(of_all_steps.end(), work.begin(), work.end());
  }
  timing.device_period = total_length(united(std::move(of_all_steps))) / static_cast<Nanoseconds>(timing.steps.size());
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// From the first work of one step to that of a later one, where there are two; else all there is.
void measure_on_device(StepTiming& timing) {
  const auto has_work = [](const StepSpan& step) { return step.device.length() > 0; };
  const auto first = std::find_if(timing.steps.begin(), timing.steps.end(), has_work);
  const auto last = std::find_if(timing.steps.rbegin(), timing.steps.rend(), has_work).base() - 1;
  if (last->device.begin > first->device.begin) {
    timing.window = {first->device.begin, last->device.begin};
    timing.periods = static_cast<double>(last - first);
  } else {
    timing.window = {std::min(first->device.begin, last->device.begin), std::max(first->device.end, last->device.end)};
  }
}

// How long the host stood in calls that wait for the device or for room in its queue, in all steps.
Nanoseconds time_waited(const Trace& trace, const StepTiming& timing) {
  const Events& events = trace.events;
  const FullQueue full_queue(trace);
  std::vector<bool> waits(trace.strings.size());
  for (StringId name = 0; name < waits.size(); ++name) waits[name] = is_waiting_call(trace.strings[name]);
  Nanoseconds waited = 0;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_api_call(events.kind[event]) || step_at(timing, events.start[event]) < 0) continue;
    if (waits[events.name[event]])
      waited += events.duration[event];
    else if (const Nanoseconds* own = full_queue.own_time_of(event))
      waited += events.duration[event] - *own;
  }
  return waited;
}

void measure_periods(StepTiming& timing, Nanoseconds waited) {
  const auto count = static_cast<Nanoseconds>(timing.steps.size());
  std::vector<Nanoseconds> longer;
  for (const StepSpan& step : timing.steps) longer.push_back(std::max(step.host.length(), step.device_busy));
  timing.host_period = (timing.steps.back().host.end - timing.steps.front().host.begin) / count;
  timing.median = median(longer);

  timing.window = {timing.steps.front().host.begin, timing.steps.back().host.end};
  timing.periods = static_cast<double>(count);
  const auto is_behind = [&](const StepSpan& step) {
    return step.device.length() > 0 &&
           static_cast<double>(step.backlog) > kBacklogOfHostAhead * static_cast<double>(timing.host_period);
  };
  const bool stays_behind = is_behind(timing.steps.front()) && is_behind(timing.steps.back());
  const bool has_time = timing.host_period - waited / count < timing.device_period;
  if (timing.device_period > timing.host_period || (stays_behind && has_time)) measure_on_device(timing);
}

StepTiming timing_of(const Trace& trace, StepSource source, std::vector<StepSpan> steps) {
  StepTiming timing;
  timing.source = source;
  timing.steps = std::move(steps);
  place_device_work(trace, timing);
  measure_periods(timing, time_waited(trace, timing));
  return timing;
}

}  // namespace

std::string_view name_of(StepSource source) {
  switch (source) {
    case StepSource::kMarks:
      return "marks";
    case StepSource::kOptimizer:
      return "optimizer";
    case StepSource::kPattern:
      return "pattern";
    case StepSource::kWhole:
      break;
  }
  return "whole_trace";
}

StepTiming step_timing(const Trace& trace) {
  if (auto steps = marked_steps(trace, {}); !steps.empty())
    return timing_of(trace, StepSource::kMarks, std::move(steps));
  if (auto steps = steps_of_optimizer(trace); !steps.empty())
    return timing_of(trace, StepSource::kOptimizer, std::move(steps));
  if (auto steps = steps_of_pattern(trace); !steps.empty())
    return timing_of(trace, StepSource::kPattern, std::move(steps));
  return timing_of(trace, StepSource::kWhole, {{0, {0, trace.duration}}});
}

std::optional<StepTiming> step_timing(const Trace& trace, const std::optional<StepRange>& range) {
  if (!range) return step_timing(trace);
  std::vector<StepSpan> steps = marked_steps(trace, *range);
  if (steps.empty()) return std::nullopt;
  return timing_of(trace, StepSource::kMarks, std::move(steps));
}

int step_at(const StepTiming& timing, Nanoseconds time) {
  const auto behind = std::upper_bound(timing.steps.begin(), timing.steps.end(), time,
                                       [](Nanoseconds value, const StepSpan& step) { return value < step.host.begin; });
  if (behind == timing.steps.begin()) return -1;
  const auto step = behind - 1;
  return time < step->host.end ? static_cast<int>(step - timing.steps.begin()) : -1;
}

bool is_in_steps(const Trace& trace, const StepTiming& timing, EventId event) {
  const EventId at = is_on_device(trace.events.kind[event]) ? trace.launch_of(event) : event;
  return at != kNoEvent && step_at(timing, trace.events.start[at]) >= 0;
}

}  // namespace telltale
