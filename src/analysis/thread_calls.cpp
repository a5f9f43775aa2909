#include "analysis/thread_calls.h"

#include <algorithm>
#include <utility>

#include "analysis/host_work.h"
#include "analysis/names_where.h"

namespace telltale {
namespace {

bool is_call(Kind kind) {
  return kind == Kind::kOperator || kind == Kind::kAnnotation || kind == Kind::kPython || kind == Kind::kModule ||
         kind == Kind::kOther;
}

// Starting, stepping and stopping torch's profiler is no work of the program.
bool is_of_recorder(const Trace& trace, EventId event) {
  return trace.events.kind[event] == Kind::kPython && trace.name(event).contains("torch/profiler/");
}

}  // namespace

ThreadCalls::ThreadCalls(const Trace& trace, const Track& thread)
    : trace_(trace), thread_(thread), next_(thread.event_count, kNoEvent), first_inside_(thread.event_count, kNoEvent) {
  for (EventId i = thread.event_count; i-- > 0;) {
    const EventId event = thread.first_event + i;
    const EventId parent = trace.events.parent[event];
    EventId& first = parent == kNoEvent ? first_ : first_inside_[parent - thread.first_event];
    next_[i] = first;
    first = event;
  }
  find_waits();
}

void ThreadCalls::find_waits() {
  const Events& events = trace_.events;
  const std::vector<bool> is_wait = names_where(trace_, is_waiting_call);
  for (EventId event = thread_.first_event; event < thread_.first_event + thread_.event_count; ++event)
    if (is_api_call(events.kind[event]) && is_wait[events.name[event]])
      waits_.push_back({events.start[event], events.end(event)});
  waits_ = united(std::move(waits_));
  for (const Interval wait : waits_) waited_.push_back(waited_.back() + wait.length());
}

Nanoseconds ThreadCalls::waited_until(Nanoseconds time) const {
  const auto behind = std::ranges::upper_bound(waits_, time, {}, &Interval::begin);
  if (behind == waits_.begin()) return 0;
  return waited_[static_cast<std::size_t>(behind - waits_.begin())] -
         std::max<Nanoseconds>(0, (behind - 1)->end - time);
}

Calls ThreadCalls::from(EventId event) const {
  const Events& events = trace_.events;
  Calls calls;
  for (; event != kNoEvent; event = next_[event - thread_.first_event]) {
    if (!is_call(events.kind[event]) || is_of_recorder(trace_, event)) continue;
    const Nanoseconds start = events.start[event], end = events.end(event);
    const Nanoseconds waited = waited_until(end) - waited_until(start);
    calls.push_back({events.name[event], events.kind[event], start, end, end - start - waited, event});
  }
  return calls;
}

const Track* busiest_thread(const Trace& trace) {
  const Track* busiest = nullptr;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kThread && (busiest == nullptr || track.event_count > busiest->event_count))
      busiest = &track;
  return busiest;
}

}  // namespace telltale
