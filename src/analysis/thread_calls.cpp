#include "analysis/thread_calls.h"

#include <algorithm>
#include <utility>

#include "analysis/api_calls.h"
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

ThreadCalls::ThreadCalls(const Trace& trace, const Track& thread, Work counted)
    : trace_(trace),
      thread_(thread),
      next_(thread.event_count, kNoEvent),
      first_inside_(thread.event_count, kNoEvent),
      counted_(counted) {
  for (EventId i = thread.event_count; i-- > 0;) {
    const EventId event = thread.first_event + i;
    const EventId parent = trace.events.parent[event];
    EventId& first = parent == kNoEvent ? first_ : first_inside_[parent - thread.first_event];
    next_[i] = first;
    first = event;
  }
  if (counted == Work::kAll)
    find_waits();
  else
    find_operators();
  if (counted == Work::kOperatorCount) return;
  known_ = united(std::move(known_));
  for (const Interval known : known_) until_.push_back(until_.back() + known.length());
}

void ThreadCalls::find_waits() {
  const Events& events = trace_.events;
  const std::vector<bool> is_wait = names_where(trace_, is_waiting_call);
  for (EventId event = thread_.first_event; event < thread_.first_event + thread_.event_count; ++event)
    if (is_api_call(events.kind[event]) && is_wait[events.name[event]])
      known_.push_back({events.start[event], events.end(event)});
}

void ThreadCalls::find_operators() {
  const Events& events = trace_.events;
  for (EventId event = thread_.first_event; event < thread_.first_event + thread_.event_count; ++event)
    if (events.kind[event] == Kind::kOperator) known_.push_back({events.start[event], events.end(event)});
}

Nanoseconds ThreadCalls::known_between(Nanoseconds start, Nanoseconds end) const {
  const auto known_until = [&](Nanoseconds time) -> Nanoseconds {
    const auto behind = std::ranges::upper_bound(known_, time, {}, &Interval::begin);
    if (behind == known_.begin()) return 0;
    return until_[static_cast<std::size_t>(behind - known_.begin())] -
           std::max<Nanoseconds>(0, (behind - 1)->end - time);
  };
  return known_until(end) - known_until(start);
}

Nanoseconds ThreadCalls::begun_between(Nanoseconds start, Nanoseconds end) const {
  const auto first = std::ranges::lower_bound(known_, start, {}, &Interval::begin);
  return std::ranges::lower_bound(first, known_.end(), end, {}, &Interval::begin) - first;
}

Nanoseconds ThreadCalls::work_between(Nanoseconds start, Nanoseconds end) const {
  if (counted_ == Work::kOperatorCount) return begun_between(start, end);
  const Nanoseconds known = known_between(start, end);
  return counted_ == Work::kOperators ? known : end - start - known;
}

Calls ThreadCalls::from(EventId event) const {
  const Events& events = trace_.events;
  Calls calls;
  for (; event != kNoEvent; event = next_[event - thread_.first_event]) {
    if (!is_call(events.kind[event]) || is_of_recorder(trace_, event)) continue;
    const Nanoseconds start = events.start[event], end = events.end(event);
    const Nanoseconds work = work_between(start, end);
    if (work == 0 && counted_ != Work::kAll) continue;
    calls.push_back({events.name[event], events.kind[event], start, end, work, event});
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
