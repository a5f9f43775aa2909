#include "analysis/cut_steps.h"

#include <algorithm>

#include "analysis/api_calls.h"
#include "analysis/names_where.h"

namespace telltale {
namespace {

// Of a step's launches, whose work was recorded: a little less than all of them is lost anywhere.
constexpr double kRecordedWork = 0.9;
// One of a few launches may lack its work for any reason.
constexpr double kLeastLaunches = 4;
// Of the first step, that it waits for earlier work: less does not show in the mean of a few steps.
constexpr double kWaitForEarlierWork = 0.05;
// With fewer steps none can be spared.
constexpr std::size_t kLeastSteps = 3;

// The step that contains a time, or as many as there are.
std::size_t step_of(std::span<const Interval> steps, Nanoseconds time) {
  const auto behind = std::ranges::upper_bound(steps, time, {}, &Interval::begin);
  if (behind == steps.begin() || time >= (behind - 1)->end) return steps.size();
  return static_cast<std::size_t>(behind - 1 - steps.begin());
}

std::vector<bool> calls_with_work(const Trace& trace) {
  std::vector<bool> has_work(trace.events.size());
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_device_work(trace.events.kind[event]) && trace.events.cause[event] != kNoEvent)
      has_work[trace.events.cause[event]] = true;
  return has_work;
}

// The share of launches whose work was recorded, by step; 1 for steps with few launches.
std::vector<double> recorded_work(const Trace& trace, std::span<const Interval> steps) {
  std::vector<double> launches(steps.size()), done(steps.size());
  const std::vector<bool> has_work = calls_with_work(trace);
  const std::vector<bool> launches_work = names_where(trace, is_launching_call);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (!is_api_call(trace.events.kind[event]) || !launches_work[trace.events.name[event]]) continue;
    const std::size_t step = step_of(steps, trace.events.start[event]);
    if (step == steps.size()) continue;
    ++launches[step];
    if (has_work[event]) ++done[step];
  }
  std::vector<double> shares;
  for (std::size_t i = 0; i < steps.size(); ++i)
    shares.push_back(launches[i] < kLeastLaunches ? 1 : done[i] / launches[i]);
  return shares;
}

// How long a step waits for work that was launched before it.
Nanoseconds wait_for_earlier_work(const Trace& trace, Interval step) {
  const Events& events = trace.events;
  Nanoseconds done = step.begin;  // the earlier work
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event])) continue;
    const EventId call = trace.launch_of(event);
    if (call == kNoEvent || events.start[call] < step.begin) done = std::max(done, events.end(event));
  }
  Nanoseconds waited = 0;
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.start[event] < step.begin || events.start[event] >= step.end) continue;
    if (is_api_call(events.kind[event]) && is_waiting_call(trace.name(event)))
      waited += std::max<Nanoseconds>(0, std::min(events.end(event), done) - events.start[event]);
  }
  return waited;
}

}  // namespace

CutSteps cut_steps(const Trace& trace, std::span<const Interval> steps) {
  CutSteps cut;
  if (steps.size() < 2) return cut;
  const std::vector<double> recorded = recorded_work(trace, steps);
  if (recorded.front() >= kRecordedWork)
    while (recorded[steps.size() - 1 - cut.last] < kRecordedWork) ++cut.last;
  const auto waited = static_cast<double>(wait_for_earlier_work(trace, steps.front()));
  const bool can_spare_one = steps.size() - cut.last >= kLeastSteps;
  if (can_spare_one && waited >= kWaitForEarlierWork * static_cast<double>(steps.front().length())) cut.first = 1;
  return cut;
}

}  // namespace telltale
