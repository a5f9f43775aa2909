#include "analysis/step_timing.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/api_calls.h"
#include "analysis/cut_steps.h"
#include "analysis/full_queue.h"
#include "analysis/host_work.h"
#include "analysis/names_where.h"
#include "analysis/outlying_steps.h"
#include "analysis/recompilation.h"
#include "analysis/robust_statistics.h"
#include "trace/loader_facts.h"

namespace telltale {
namespace {

// Of a step: where its first device work had to wait this long behind earlier work, the host was ahead when the
// recording began, and its marks contain waiting for work of steps that were not recorded.
constexpr double kBacklogOfHostAhead = 0.4;

// Of the usual step: a last one that is shorter and launches nothing, where all others do, is what the recorder marked
// before it stopped.
constexpr double kStub = 0.1;

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
  const std::vector<bool> waits = names_where(trace, is_waiting_call);
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
  for (const StepSpan& step : timing.steps) longer.push_back(step.duration());
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

bool is_stub(const StepSpan& last, std::span<const StepSpan> others) {
  std::vector<Nanoseconds> durations;
  for (const StepSpan& step : others) durations.push_back(step.duration());
  return !others.empty() && last.device_busy == 0 &&
         std::ranges::all_of(others, [](const StepSpan& step) { return step.device_busy > 0; }) &&
         static_cast<double>(last.duration()) < kStub * static_cast<double>(median(durations));
}

// An epoch that starts a loader's workers anew is how the program runs, however long its first step takes. The first
// epoch is the start of the program.
void keep_starts_of_epochs(const Trace& trace, std::vector<StepSpan>& steps) {
  StringId start = 0;
  while (start < trace.strings.size() && trace.strings[start] != kStartOfWorkers) ++start;
  std::vector<StepSpan*> begin_epochs;
  for (EventId event = 0; start < trace.strings.size() && event < trace.events.size(); ++event) {
    if (trace.events.name[event] != start) continue;
    const auto behind = std::ranges::upper_bound(steps, trace.events.start[event], {},
                                                 [](const StepSpan& step) { return step.host.begin; });
    if (behind == steps.begin() || behind - 1 == steps.begin()) continue;
    if (trace.events.start[event] < (behind - 1)->host.end) begin_epochs.push_back(&*(behind - 1));
  }
  if (begin_epochs.size() < 2) return;
  for (StepSpan* const step : begin_epochs) step->is_outlier = false;
}

void find_outliers(const Trace& trace, std::vector<StepSpan>& steps) {
  std::vector<Nanoseconds> durations;
  std::vector<std::int64_t> numbers;
  std::vector<Interval> on_host;
  for (const StepSpan& step : steps) {
    durations.push_back(step.duration());
    numbers.push_back(step.index);
    on_host.push_back(step.host);
  }
  if (!std::ranges::is_sorted(numbers, std::ranges::less_equal())) numbers.clear();
  const std::vector<bool> is_outlier = outliers_among(durations, numbers), compiles = compiling_steps(trace, on_host);
  const bool recompiles = keeps_compiling(compiles);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].is_outlier = is_outlier[i] && !(recompiles && compiles[i]);
  if (is_stub(steps.back(), std::span(steps).first(steps.size() - 1))) steps.back().is_outlier = true;
  keep_starts_of_epochs(trace, steps);
}

// Of a list of steps.
struct Run {
  std::size_t first = 0, count = 0;
};

// The longest run of steps without an outlier and, if those count, without a pause; the last of several.
Run longest_run(const std::vector<StepSpan>& steps, bool pauses_count) {
  Run longest, run;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_outlier) {
      run = {i + 1, 0};
      continue;
    }
    if (pauses_count && i > 0 && steps[i - 1].host.end < steps[i].host.begin) run = {i, 0};
    ++run.count;
    if (run.count >= longest.count) longest = run;
  }
  return longest;
}

// The steps that are not cut, so that others are compared with these alone; the cut ones are put aside.
void leave_out_cut_steps(const Trace& trace, StepTiming& timing) {
  std::vector<StepSpan>& steps = timing.steps;
  std::vector<Interval> on_host;
  for (const StepSpan& step : steps) on_host.push_back(step.host);
  const CutSteps cut = cut_steps(trace, on_host);
  const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(cut.first);
  const auto end = steps.end() - static_cast<std::ptrdiff_t>(cut.last);
  timing.left_out.assign(steps.begin(), begin);
  timing.left_out.insert(timing.left_out.end(), end, steps.end());
  for (StepSpan& step : timing.left_out) step.is_cut = true;
  steps = {begin, end};
}

// Leaves the steps to look at and puts the others aside. A program that pauses after every step is one whose steps have
// pauses.
void leave_out_others(const Trace& trace, StepTiming& timing) {
  std::vector<StepSpan>& steps = timing.steps;
  find_outliers(trace, steps);
  Run run = longest_run(steps, true);
  if (run.count < 2) run = longest_run(steps, false);
  const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(run.first);
  const auto end = begin + static_cast<std::ptrdiff_t>(run.count);
  timing.left_out.insert(timing.left_out.end(), steps.begin(), begin);
  timing.left_out.insert(timing.left_out.end(), end, steps.end());
  std::ranges::sort(timing.left_out, {}, [](const StepSpan& step) { return step.host.begin; });
  for (StepSpan& step : timing.left_out) step.is_counted = false;
  steps = {begin, end};
}

StepTiming timing_of(const Trace& trace, FoundSteps found, bool leaves_out) {
  StepTiming timing;
  timing.source = found.source;
  for (const FoundStep& step : found.steps) timing.steps.push_back({.index = step.index, .host = step.host});
  place_device_work(trace, timing);
  if (leaves_out) {
    leave_out_cut_steps(trace, timing);
    leave_out_others(trace, timing);
  }
  if (!timing.left_out.empty()) place_device_work(trace, timing);
  measure_periods(timing, time_waited(trace, timing));
  return timing;
}

}  // namespace

StepTiming step_timing(const Trace& trace) { return timing_of(trace, found_steps(trace), true); }

std::optional<StepTiming> step_timing(const Trace& trace, const std::optional<StepRange>& range) {
  if (!range) return step_timing(trace);
  FoundSteps found = found_steps(trace);
  if (found.source == StepSource::kWhole) return std::nullopt;
  std::erase_if(found.steps, [&](const FoundStep& step) { return !range->contains(step.index); });
  if (found.steps.empty()) return std::nullopt;
  return timing_of(trace, std::move(found), !range->is_asked_for);
}

std::vector<StepSpan> all_steps(const StepTiming& timing) {
  std::vector<StepSpan> all;
  std::ranges::merge(
      timing.steps, timing.left_out, std::back_inserter(all), {}, [](const StepSpan& step) { return step.host.begin; },
      [](const StepSpan& step) { return step.host.begin; });
  return all;
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
