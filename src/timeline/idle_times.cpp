#include "timeline/idle_times.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "analysis/breakdown.h"
#include "analysis/step_timing.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

constexpr std::size_t kGapsInTotal = 64;

void add_time(CauseTimes& times, HostWork cause, Nanoseconds time) { times[static_cast<std::size_t>(cause)] += time; }

}  // namespace

IdleTimes::IdleTimes(const Trace& trace) {
  const std::vector<DeviceId> devices = devices_at_work(trace);
  if (devices.empty() || trace.duration <= 0) return;
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  const Interval steps = step_timing(trace).window;
  const Nanoseconds begin = std::clamp<Nanoseconds>(steps.begin, 0, trace.duration);
  const Nanoseconds end = std::clamp(steps.end, begin, trace.duration);
  const std::vector<Interval> paused = pauses(trace);
  for (const DeviceId device : devices) {
    Gaps& gaps = devices_.emplace_back();
    gaps.device = device;
    for (const Interval window : {Interval{0, begin}, Interval{begin, end}, Interval{end, trace.duration}}) {
      if (window.length() <= 0) continue;
      for (const IdleGap& gap : idle_gaps(trace, device, window, host_work)) gaps.add(gap, paused);
    }
    gaps.starts.shrink_to_fit();
    gaps.durations.shrink_to_fit();
    gaps.causes.shrink_to_fit();
    gaps.blamed.shrink_to_fit();
    gaps.sums.resize(sums_over(gaps.size()));
    SpanLine(gaps, std::span(gaps.sums)).fill_sums();
    gaps.fill_totals();
  }
}

// While the recorder pauses, nobody knows why a device idles, or whether it does.
void IdleTimes::Gaps::add(const IdleGap& gap, const std::vector<Interval>& paused) {
  const auto add_part = [&](Nanoseconds begin, Nanoseconds end, HostWork cause, EventId blame) {
    if (begin >= end) return;
    starts.push_back(begin);
    durations.push_back(end - begin);
    causes.push_back(cause);
    blamed.push_back(blame);
  };
  Nanoseconds at = gap.when.begin;
  auto pause = std::ranges::upper_bound(paused, at, {}, &Interval::end);
  for (; pause != paused.end() && pause->begin < gap.when.end; ++pause) {
    const Nanoseconds begin = std::max(at, pause->begin), end = std::min(gap.when.end, pause->end);
    add_part(at, begin, gap.cause, gap.blamed);
    add_part(begin, end, HostWork::kUnknown, kNoEvent);
    at = end;
  }
  add_part(at, gap.when.end, gap.cause, gap.blamed);
}

void IdleTimes::Gaps::fill_totals() {
  totals.reserve(size() / kGapsInTotal + 1);
  CauseTimes sum{};
  for (std::size_t i = 0; i < size(); ++i) {
    if (i % kGapsInTotal == 0) totals.push_back(sum);
    add_time(sum, causes[i], durations[i]);
  }
  if (size() % kGapsInTotal == 0) totals.push_back(sum);
}

CauseTimes IdleTimes::Gaps::before(std::size_t i) const {
  CauseTimes times = totals[i / kGapsInTotal];
  for (std::size_t at = i / kGapsInTotal * kGapsInTotal; at < i; ++at) add_time(times, causes[at], durations[at]);
  return times;
}

// Gaps do not overlap: what is drawn together begins with the one that starts then.
CauseTimes IdleTimes::Gaps::by_cause(const DrawnSpan& drawn) const {
  CauseTimes times{};
  if (drawn.count == 1) {
    add_time(times, causes[drawn.longest], durations[drawn.longest]);
    return times;
  }
  const std::size_t first = starts.first_from(drawn.start);
  const CauseTimes until = before(first + drawn.count), from = before(first);
  for (std::size_t cause = 0; cause < times.size(); ++cause) times[cause] = until[cause] - from[cause];
  return times;
}

const IdleTimes::Gaps* IdleTimes::find(DeviceId device) const {
  const auto found = std::ranges::find(devices_, device, &Gaps::device);
  return found == devices_.end() ? nullptr : &*found;
}

CauseTimes IdleTimes::by_cause(DeviceId device, Interval window) const {
  CauseTimes times{};
  const Gaps* gaps = find(device);
  if (gaps == nullptr) return times;
  std::size_t first = gaps->starts.first_from(window.begin);
  if (first > 0) --first;
  for (std::size_t i = first; i < gaps->size() && gaps->starts[i] < window.end; ++i) {
    const Nanoseconds begin = std::max(gaps->starts[i], window.begin);
    const Nanoseconds end = std::min(gaps->starts[i] + gaps->durations[i], window.end);
    if (end > begin) add_time(times, gaps->causes[i], end - begin);
  }
  return times;
}

std::size_t IdleTimes::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Gaps& gaps : devices_)
    bytes += gaps.starts.memory_bytes() + gaps.durations.memory_bytes() + gaps.causes.capacity() +
             gaps.blamed.capacity() * sizeof(EventId) + gaps.sums.capacity() * sizeof(SpanSum) +
             gaps.totals.capacity() * sizeof(CauseTimes);
  return bytes;
}

std::vector<DeviceId> devices_at_work(const Trace& trace) {
  std::set<DeviceId> devices;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::kStream || track.device == kHost || devices.contains(track.device)) continue;
    const auto kinds = std::span(trace.events.kind).subspan(track.first_event, track.event_count);
    if (std::ranges::any_of(kinds, is_device_work)) devices.insert(track.device);
  }
  return {devices.begin(), devices.end()};
}

}  // namespace telltale
