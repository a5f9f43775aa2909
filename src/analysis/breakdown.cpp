#include "analysis/breakdown.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "analysis/backward_elsewhere.h"
#include "analysis/host_collectives.h"
#include "analysis/host_timeline.h"
#include "base/merge_runs.h"

namespace telltale {
namespace {

bool is_work_in(const Trace& trace, EventId event, Interval window) {
  return is_device_work(trace.events.kind[event]) && trace.events.end(event) > window.begin &&
         trace.events.start[event] < window.end;
}

template <typename Visit>
void for_each_work_in(const Trace& trace, const Track& stream, Interval window, Visit visit) {
  for (EventId event = stream.first_event; event < stream.first_event + stream.event_count; ++event)
    if (is_work_in(trace, event, window)) visit(event);
}

// By start.
std::vector<EventId> device_work_in(const Trace& trace, DeviceId device, Interval window) {
  std::vector<EventId> work;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream && track.device == device)
      for_each_work_in(trace, track, window, [&](EventId event) { work.push_back(event); });
  merge_runs(std::span(work), [&](EventId a, EventId b) { return trace.events.start[a] < trace.events.start[b]; });
  return work;
}

// The device with the most work in the window, by summed durations; kHost when none has any.
DeviceId busiest_device(const Trace& trace, Interval window) {
  std::map<DeviceId, Nanoseconds> totals;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream && track.device != kHost)
      for_each_work_in(trace, track, window,
                       [&](EventId event) { totals[track.device] += trace.events.duration[event]; });
  DeviceId busiest = kHost;
  Nanoseconds most = 0;
  for (const auto& [device, total] : totals) {
    if (total <= most) continue;
    most = total;
    busiest = device;
  }
  return busiest;
}

// Divides the window of one device among classes of work and causes of idleness.
class Divider {
 public:
  // Without classes, only the gaps are of interest.
  Divider(const Trace& trace, Interval window, const std::vector<HostWork>& host_work, HostTimeline timeline,
          bool has_classes = true)
      : trace_(trace),
        window_(window),
        host_work_(host_work),
        timeline_(std::move(timeline)),
        collectives_(trace),
        backward_(trace) {
    if (has_classes) class_of_.emplace(trace);
  }

  // In order of start.
  void add_work(EventId event) {
    const Nanoseconds start = std::max(trace_.events.start[event], window_.begin);
    const Nanoseconds end = std::min(trace_.events.end(event), window_.end);
    if (start > at_) explain_gap({at_, start}, event);
    if (end <= at_) return;
    if (class_of_) busy_[static_cast<std::size_t>((*class_of_)(event))] += end - std::max(at_, start);
    at_ = end;
  }

  void finish() {
    if (at_ < window_.end) explain_gap({at_, window_.end}, kNoEvent);
  }

  const std::array<Nanoseconds, kWorkClassCount>& busy() const { return busy_; }
  std::vector<IdleGap>& gaps() { return gaps_; }

  // Of the host's time outside of device work; empty without any.
  std::string longest_operator() const {
    const auto longest = std::ranges::max_element(time_by_operator_, {}, [](const auto& each) { return each.second; });
    return longest == time_by_operator_.end() ? std::string() : std::string(trace_.strings[longest->first]);
  }

 private:
  void explain_gap(Interval gap, EventId next) {
    const EventId launch = next == kNoEvent ? kNoEvent : trace_.launch_of(next);
    const bool has_launch = launch != kNoEvent && !is_on_device(trace_.events.kind[launch]);
    const Nanoseconds called = has_launch ? std::clamp(trace_.events.start[launch], gap.begin, gap.end) : gap.end;
    explain_host_time({gap.begin, called}, next);
    if (called < gap.end) add_gap({called, gap.end}, cause_of_call(launch), launch, next);
  }

  HostWork cause_of_call(EventId launch) const {
    return host_work_[launch] == HostWork::kCopies ? HostWork::kCopies : HostWork::kLaunching;
  }

  // A gap that begins while the host waits for the device is the wait's: what follows up to the next launch is the host
  // filling the queue again. Loading, collecting, compiling and allocating would have taken their time anyway.
  void explain_host_time(Interval gap, EventId next) {
    if (gap.length() <= 0) return;
    while (timeline_.segment().when.end <= gap.begin && timeline_.next()) continue;
    const EventId first = timeline_.segment().event;
    const EventId wait = work_in(first) == HostWork::kSync ? first : kNoEvent;
    while (true) {
      const auto& [when, event] = timeline_.segment();
      const Interval part{std::max(when.begin, gap.begin), std::min(when.end, gap.end)};
      const bool refills = wait != kNoEvent && is_refill(work_in(event));
      if (refills)
        add_gap(part, HostWork::kSync, wait, next);
      else
        add_host_time(part, event, next);
      // What is left of the segment may explain the next gap.
      if (when.end >= gap.end || !timeline_.next()) return;
    }
  }

  // Of a call that waits for a collective, only the time until that is done.
  void add_host_time(Interval part, EventId event, EventId next) {
    if (part.length() <= 0) return;
    collectives_.cut(part, event, [&](Interval piece, bool waits) {
      add_gap(piece, waits ? HostWork::kCommunication : work_in(event), event, next);
    });
    if (event != kNoEvent && host_work_[event] == HostWork::kOperators)
      time_by_operator_[trace_.events.name[event]] += part.length();
  }

  HostWork work_in(EventId event) const {
    if (event == kNoEvent) return HostWork::kUnknown;
    const bool is_backward = host_work_[event] == HostWork::kWaiting && backward_.begins_within(event);
    return is_backward ? HostWork::kOperators : host_work_[event];
  }

  static bool is_refill(HostWork work) {
    return work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching ||
           work == HostWork::kUnknown;
  }

  // Neighbors of one cause are one; the event that took most of it stands for the others.
  void add_gap(Interval when, HostWork cause, EventId blamed, EventId next) {
    if (when.length() <= 0) return;
    const bool continues = !gaps_.empty() && gaps_.back().when.end == when.begin && gaps_.back().cause == cause &&
                           gaps_.back().next == next && (cause != HostWork::kSync || gaps_.back().blamed == blamed);
    if (!continues) {
      gaps_.push_back({when, cause, blamed, next});
      longest_part_ = when.length();
      return;
    }
    gaps_.back().when.end = when.end;
    if (when.length() <= longest_part_) return;
    longest_part_ = when.length();
    gaps_.back().blamed = blamed;
  }

  const Trace& trace_;
  Interval window_;
  const std::vector<HostWork>& host_work_;
  HostTimeline timeline_;  // no later than the first segment that reaches beyond the gaps so far
  std::optional<WorkClassifier> class_of_;
  HostCollectives collectives_;
  BackwardElsewhere backward_;
  Nanoseconds at_ = window_.begin;
  std::array<Nanoseconds, kWorkClassCount> busy_{};
  std::vector<IdleGap> gaps_;
  Nanoseconds longest_part_ = 0;  // of the last gap
  std::map<StringId, Nanoseconds> time_by_operator_;
};

// Divides by the number of steps; what rounding leaves over goes to the largest part, so that the sum stays exact.
void scale_to_step(StepBreakdown& breakdown, double periods) {
  const auto divided = [periods](Nanoseconds& part) {
    part = static_cast<Nanoseconds>(static_cast<double>(part) / periods);
  };
  std::for_each(breakdown.busy.begin(), breakdown.busy.end(), divided);
  std::for_each(breakdown.by_host_work.begin(), breakdown.by_host_work.end(), divided);
  const auto busiest = std::max_element(breakdown.busy.begin(), breakdown.busy.end());
  const auto longest = std::max_element(breakdown.by_host_work.begin(), breakdown.by_host_work.end());
  const Nanoseconds rest =
      std::accumulate(breakdown.by_host_work.begin(), breakdown.by_host_work.end(), Nanoseconds{0});
  (*busiest >= *longest ? *busiest : *longest) += breakdown.step - breakdown.busy_total() - rest;
}

}  // namespace

double percent_of(Nanoseconds part, Nanoseconds whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string BreakdownPart::category() const {
  const std::string_view name = std::visit([](auto each) { return name_of(each); }, what);
  return (is_idle ? "idle_" : "") + std::string(name);
}

std::vector<BreakdownPart> StepBreakdown::parts() const {
  std::vector<BreakdownPart> parts;
  const auto add = [&]<typename Work>(Work what, bool is_idle, Nanoseconds ns) {
    if (ns != 0) parts.push_back({what, is_idle, ns, percent_of(ns, step)});
  };
  for (std::size_t i = 0; i < busy.size(); ++i) add(static_cast<WorkClass>(i), false, busy[i]);
  const auto host_begin = static_cast<std::ptrdiff_t>(parts.size());
  for (std::size_t i = 0; i < by_host_work.size(); ++i) add(static_cast<HostWork>(i), has_device, by_host_work[i]);
  const auto middle = parts.begin() + host_begin;
  std::ranges::stable_sort(parts.begin(), middle, std::ranges::greater{}, &BreakdownPart::ns);
  std::ranges::stable_sort(middle, parts.end(), std::ranges::greater{}, &BreakdownPart::ns);
  return parts;
}

double StepBreakdown::busy_percent() const { return percent_of(busy_total(), step); }
double StepBreakdown::idle_percent() const { return percent_of(idle_total(), step); }

Nanoseconds StepBreakdown::busy_total() const { return std::accumulate(busy.begin(), busy.end(), Nanoseconds{0}); }

std::vector<IdleGap> idle_gaps(const Trace& trace, DeviceId device, Interval window,
                               const std::vector<HostWork>& host_work) {
  Divider divider(trace, window, host_work, HostTimeline(trace, launching_threads(trace, window), window, host_work),
                  /*has_classes=*/false);
  for (const EventId event : device_work_in(trace, device, window)) divider.add_work(event);
  divider.finish();
  return std::move(divider.gaps());
}

StepBreakdown step_breakdown(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work) {
  StepBreakdown breakdown;
  breakdown.step = timing.period();
  breakdown.device = busiest_device(trace, timing.window);
  breakdown.has_device = breakdown.device != kHost;
  const std::vector<TrackId> threads = launching_threads(trace, timing.window);
  if (!threads.empty()) breakdown.thread = threads.front();

  Divider divider(trace, timing.window, host_work, HostTimeline(trace, threads, timing.window, host_work));
  if (breakdown.has_device)
    for (const EventId event : device_work_in(trace, breakdown.device, timing.window)) divider.add_work(event);
  divider.finish();

  breakdown.busy = divider.busy();
  breakdown.gaps = std::move(divider.gaps());
  if (!breakdown.has_device) breakdown.longest_operator = divider.longest_operator();
  for (const IdleGap& gap : breakdown.gaps)
    breakdown.by_host_work[static_cast<std::size_t>(gap.cause)] += gap.when.length();
  scale_to_step(breakdown, timing.periods);
  return breakdown;
}

}  // namespace telltale
