#include "analysis/sync_points.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/api_calls.h"
#include "analysis/host_work.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

// Remembers the answer of is_waiting_call for each name.
class WaitingCalls {
 public:
  explicit WaitingCalls(const Trace& trace) : trace_(trace), by_name_(trace.strings.size(), Answer::kUnknown) {}

  bool contains(EventId event) {
    if (!is_api_call(trace_.events.kind[event])) return false;
    Answer& answer = by_name_[trace_.events.name[event]];
    if (answer == Answer::kUnknown) answer = is_waiting_call(trace_.name(event)) ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }

 private:
  enum class Answer : std::uint8_t { kUnknown, kYes, kNo };
  const Trace& trace_;
  std::vector<Answer> by_name_;
};

// A call that copies from or to pageable memory moves it through a buffer of the driver's and returns with the last
// piece, which the device may still be taking: traces show such calls end up to 20 µs before their copy does. One that
// only enqueues ends before the copy has begun.
bool waits_for_copy(const Trace& trace, EventId copy, const CopyInfo& info) {
  if (info.from != MemorySpace::kPageable && info.to != MemorySpace::kPageable) return false;
  const EventId call = trace.launch_of(copy);
  if (call == kNoEvent || trace.name(call).find("Memcpy") == std::string_view::npos) return false;
  return trace.events.end(call) >= trace.events.start[copy] + trace.events.duration[copy] / 2;
}

// Of operators that stand in each other, the outermost.
class OutermostOperators {
 public:
  explicit OutermostOperators(const Trace& trace)
      : events_(trace.events), caller_(trace.events.parent), outermost_(trace.events.size(), kNoEvent) {
    for (EventId event = 0; event < events_.size(); ++event) {
      const EventId parent = events_.parent[event];
      if (parent != kNoEvent && is_api_call(events_.kind[parent])) caller_[event] = caller_[parent];
      if (!is_operator(event)) continue;
      outermost_[event] = is_operator(parent) ? outermost_[parent] : event;
    }
  }

  EventId of_call(EventId call) const {
    // A call that stands outside its operator names it.
    const EventId op = is_operator(caller_[call]) ? caller_[call] : events_.cause[call];
    return op == kNoEvent ? kNoEvent : outermost_[op];
  }

 private:
  bool is_operator(EventId event) const { return event != kNoEvent && events_.kind[event] == Kind::kOperator; }

  const Events& events_;
  std::vector<EventId> caller_;     // by event: the innermost one around it that is no call of the device's API
  std::vector<EventId> outermost_;  // by operator
};

std::vector<EventId> waiting_calls(const Trace& trace, const StepTiming& timing) {
  const Events& events = trace.events;
  WaitingCalls waiting(trace);
  SideTableWalk<CopyInfo> copies(trace.copies);
  std::vector<EventId> calls;
  for (EventId event = 0; event < events.size(); ++event) {
    EventId call = kNoEvent;
    if (waiting.contains(event)) {
      call = event;
    } else if (events.kind[event] == Kind::kMemcpy) {
      const CopyInfo* info = copies.find(event);
      if (info != nullptr && waits_for_copy(trace, event, *info)) call = events.cause[event];
    }
    if (call == kNoEvent || step_at(timing, events.start[call]) < 0) continue;
    calls.push_back(call);
  }
  std::ranges::sort(
      calls, [&](EventId a, EventId b) { return std::pair(events.start[a], a) < std::pair(events.start[b], b); });
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

}  // namespace

std::vector<SyncPoint> sync_points(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown) {
  const Events& events = trace.events;
  std::unordered_map<EventId, Nanoseconds> idle_by_call;
  for (const IdleGap& gap : breakdown.gaps)
    if (gap.cause == HostWork::kSync && gap.blamed != kNoEvent) idle_by_call[gap.blamed] += gap.when.length();

  const OutermostOperators operators(trace);
  std::vector<SyncPoint> points;
  std::unordered_map<EventId, std::size_t> point_of_call;
  for (const EventId call : waiting_calls(trace, timing)) {
    const auto idle = idle_by_call.find(call);
    const Nanoseconds idle_after = idle == idle_by_call.end() ? 0 : idle->second;
    const auto outer = events.parent[call] == kNoEvent ? point_of_call.end() : point_of_call.find(events.parent[call]);
    if (outer != point_of_call.end()) {
      const std::size_t point = outer->second;
      points[point].idle_after += idle_after;
      point_of_call[call] = point;
      continue;
    }
    point_of_call[call] = points.size();
    points.push_back({call, operators.of_call(call), events.duration[call], idle_after});
  }
  return points;
}

}  // namespace telltale
