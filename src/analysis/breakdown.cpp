#include "analysis/breakdown.h"

#include <algorithm>
#include <numeric>

#include "analysis/host_timeline.h"

namespace telltale {
namespace {

std::vector<EventId> device_work_in(const Trace& trace, DeviceId device, Interval window) {
  std::vector<EventId> work;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::kStream || track.device != device) continue;
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event)
      if (is_device_work(trace.events.kind[event]) && trace.events.end(event) > window.begin &&
          trace.events.start[event] < window.end)
        work.push_back(event);
  }
  std::stable_sort(work.begin(), work.end(),
                   [&](EventId a, EventId b) { return trace.events.start[a] < trace.events.start[b]; });
  return work;
}

// The device with the most work in the window, by summed durations; kHost when none has any.
DeviceId busiest_device(const Trace& trace, Interval window) {
  DeviceId busiest = kHost;
  Nanoseconds most = 0;
  for (const Device& device : trace.devices) {
    Nanoseconds total = 0;
    for (const EventId event : device_work_in(trace, device.id, window)) total += trace.events.duration[event];
    if (total <= most) continue;
    most = total;
    busiest = device.id;
  }
  return busiest;
}

// Divides the window of one device among classes of work and causes of idleness.
class Divider {
 public:
  Divider(const Trace& trace, Interval window, const std::vector<HostWork>& host_work,
          const std::vector<HostSegment>& timeline)
      : trace_(trace), window_(window), host_work_(host_work), timeline_(timeline), class_of_(trace) {}

  // In order of start.
  void add_work(EventId event) {
    const Nanoseconds start = std::max(trace_.events.start[event], window_.begin);
    const Nanoseconds end = std::min(trace_.events.end(event), window_.end);
    if (start > at_) explain_gap({at_, start}, event);
    if (end <= at_) return;
    busy_[static_cast<std::size_t>(class_of_(event))] += end - std::max(at_, start);
    at_ = end;
  }

  void finish() {
    if (at_ < window_.end) explain_gap({at_, window_.end}, kNoEvent);
  }

  const std::array<Nanoseconds, kWorkClassCount>& busy() const { return busy_; }
  std::vector<IdleGap>& gaps() { return gaps_; }

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
    while (first_ < timeline_.size() && timeline_[first_].when.end <= gap.begin) ++first_;
    EventId wait = kNoEvent;
    for (std::size_t i = first_; i < timeline_.size() && timeline_[i].when.begin < gap.end; ++i) {
      const Interval part{std::max(timeline_[i].when.begin, gap.begin), std::min(timeline_[i].when.end, gap.end)};
      const EventId event = timeline_[i].event;
      HostWork cause = event == kNoEvent ? HostWork::kUnknown : host_work_[event];
      if (cause == HostWork::kSync) wait = event;
      if (wait != kNoEvent && is_refill(cause))
        add_gap(part, HostWork::kSync, wait, next);
      else
        add_gap(part, cause, event, next);
    }
  }

  static bool is_refill(HostWork work) {
    return work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching ||
           work == HostWork::kUnknown || work == HostWork::kSync;
  }

  void add_gap(Interval when, HostWork cause, EventId blamed, EventId next) {
    if (when.length() > 0) gaps_.push_back({when, cause, blamed, next});
  }

  const Trace& trace_;
  Interval window_;
  const std::vector<HostWork>& host_work_;
  const std::vector<HostSegment>& timeline_;
  WorkClassifier class_of_;
  Nanoseconds at_ = window_.begin;
  std::size_t first_ = 0;  // no earlier segment reaches beyond the gaps to come
  std::array<Nanoseconds, kWorkClassCount> busy_{};
  std::vector<IdleGap> gaps_;
};

// Divides by the number of steps; what rounding leaves over goes to the largest part, so that the sum stays exact.
void scale_to_step(StepBreakdown& breakdown, double periods) {
  const auto divided = [periods](Nanoseconds& part) {
    part = static_cast<Nanoseconds>(static_cast<double>(part) / periods);
  };
  std::for_each(breakdown.busy.begin(), breakdown.busy.end(), divided);
  std::for_each(breakdown.idle.begin(), breakdown.idle.end(), divided);
  const auto busiest = std::max_element(breakdown.busy.begin(), breakdown.busy.end());
  const auto idlest = std::max_element(breakdown.idle.begin(), breakdown.idle.end());
  const Nanoseconds idle = std::accumulate(breakdown.idle.begin(), breakdown.idle.end(), Nanoseconds{0});
  (*busiest >= *idlest ? *busiest : *idlest) += breakdown.step - breakdown.busy_total() - idle;
}

}  // namespace

Nanoseconds StepBreakdown::busy_total() const { return std::accumulate(busy.begin(), busy.end(), Nanoseconds{0}); }

StepBreakdown step_breakdown(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work) {
  StepBreakdown breakdown;
  breakdown.step = timing.period();
  breakdown.device = busiest_device(trace, timing.window);
  breakdown.has_device = breakdown.device != kHost;
  const std::vector<TrackId> threads = launching_threads(trace, timing.window);
  if (!threads.empty()) breakdown.thread = threads.front();

  const std::vector<HostSegment> timeline = host_timeline(trace, threads, timing.window, host_work);
  Divider divider(trace, timing.window, host_work, timeline);
  if (breakdown.has_device)
    for (const EventId event : device_work_in(trace, breakdown.device, timing.window)) divider.add_work(event);
  divider.finish();

  breakdown.busy = divider.busy();
  breakdown.gaps = std::move(divider.gaps());
  for (const IdleGap& gap : breakdown.gaps) breakdown.idle[static_cast<std::size_t>(gap.cause)] += gap.when.length();
  scale_to_step(breakdown, timing.periods);
  return breakdown;
}

}  // namespace telltale
