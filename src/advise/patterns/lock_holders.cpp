#include "advise/patterns/lock_holders.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/host_timeline.h"
#include "base/intervals.h"

namespace telltale {
namespace {

// Of the wait, that a line must be open to count as what holds the lock.
constexpr double kLeastShareOfWait = 0.5;

using Place = std::tuple<TrackId, std::string, int, std::string>;

Nanoseconds common_length(Interval one, Interval other) {
  return std::max<Nanoseconds>(0, std::min(one.end, other.end) - std::max(one.begin, other.begin));
}

// By line of the user's: how long the thread is in it during the waits, which are sorted and apart.
void add_lines(const Trace& trace, TrackId thread, const std::vector<Interval>& waits,
               std::map<Place, Nanoseconds>& time_by_place) {
  std::map<EventId, Nanoseconds> time_by_event;
  auto wait = waits.begin();
  for (HostSegmentWalk walk(trace, thread, {waits.front().begin, waits.back().end}); walk.next();) {
    const auto& [when, event] = walk.segment();
    while (wait != waits.end() && wait->end <= when.begin) ++wait;
    if (event == kNoEvent || wait_of_call(trace.name(event)) == WaitFor::kLock) continue;
    for (auto at = wait; at != waits.end() && at->begin < when.end; ++at)
      time_by_event[event] += common_length(*at, when);
  }
  for (const auto& [event, time] : time_by_event)
    if (const std::optional<SourceLine> line = source_line(trace, event); line && time > 0)
      time_by_place[{thread, line->file, line->line, line->function}] += time;
}

using Function = std::pair<std::string, std::string>;  // file and name

// A call that waits, with a function around it and the line at which that stands meanwhile; 0 where nothing says.
struct WaitIn {
  EventId wait;
  int line;
};

// Functions around a wait, innermost first, with their lines of that moment.
std::vector<SourceLine> frames_around(const Trace& trace, EventId wait) {
  std::vector<SourceLine> frames;
  if (const OperatorStack* const stack = trace.operator_stacks.find(wait); stack != nullptr) {
    std::string_view text = trace.strings[stack->call_stack];
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(';'), text.size());
      if (auto frame = parsed_frame(text.substr(0, end))) frames.push_back(*std::move(frame));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  if (!frames.empty()) return frames;
  for (EventId at = trace.events.parent[wait]; at != kNoEvent; at = trace.events.parent[at]) {
    auto frame = parsed_frame(trace.name(at));
    if (!frame) continue;
    frame->line = 0;
    frames.push_back(*std::move(frame));
  }
  return frames;
}

Interval span_of(const Trace& trace, EventId event) { return {trace.events.start[event], trace.events.end(event)}; }

// Waits of all threads for anything but a lock, by start.
std::vector<EventId> other_waits(const Trace& trace) {
  std::vector<EventId> waits;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kPython || trace.events.duration[event] <= 0) continue;
    const WaitFor what = wait_of_call(trace.name(event));
    if (what != WaitFor::kNothing && what != WaitFor::kLock) waits.push_back(event);
  }
  std::ranges::stable_sort(waits, {}, [&](EventId wait) { return trace.events.start[wait]; });
  return waits;
}

// Adds what waits of other threads cover of a wait for a lock.
class Covering {
 public:
  explicit Covering(const Trace& trace) : trace_(trace) {}

  // `holders` by start, with the longest of them.
  void add(EventId lock_wait, const std::vector<WaitIn>& holders, Nanoseconds longest, int line) {
    const Interval wait = span_of(trace_, lock_wait);
    std::vector<Interval> covered;
    const auto start = [&](const WaitIn& each) { return trace_.events.start[each.wait]; };
    for (auto at = std::ranges::lower_bound(holders, wait.begin - longest, {}, start);
         at != holders.end() && start(*at) < wait.end; ++at) {
      if (trace_.events.track[at->wait] == trace_.events.track[lock_wait]) continue;
      if (line > 0 && at->line > 0 && at->line < line) continue;
      const Nanoseconds common = common_length(wait, span_of(trace_, at->wait));
      if (common <= 0) continue;
      covered.push_back(span_of(trace_, at->wait));
      time_by_holder_[at->wait] += common;
    }
    found_.idle.push_back(total_length(clipped(united(std::move(covered)), wait)));
    found_.total += found_.idle.back();
  }

  IdleHolding take() {
    std::map<std::tuple<std::string, int, std::string>, std::pair<Nanoseconds, EventId>> by_line;
    for (const auto& [wait, time] : time_by_holder_) {
      const std::optional<SourceLine> line = source_line(trace_, wait);
      if (!line) continue;
      auto& [total, example] = by_line[{line->file, line->line, line->function}];
      total += time;
      example = wait;
    }
    const auto most = std::ranges::max_element(by_line, {}, [](const auto& each) { return each.second.first; });
    if (most != by_line.end()) {
      found_.source = source_line(trace_, most->second.second);
      found_.what = waited_for(trace_, most->second.second);
    }
    return std::move(found_);
  }

 private:
  const Trace& trace_;
  std::map<EventId, Nanoseconds> time_by_holder_;
  IdleHolding found_;
};

Nanoseconds longest_of(const Trace& trace, const std::vector<WaitIn>& waits) {
  Nanoseconds longest = 0;
  for (const WaitIn& each : waits) longest = std::max(longest, trace.events.duration[each.wait]);
  return longest;
}

// By the function in which threads wait for the lock: the other waits in it.
IdleHolding in_same_function(const Trace& trace, const std::vector<EventId>& lock_waits,
                             const std::vector<EventId>& others) {
  std::map<Function, std::vector<WaitIn>> holders;
  std::vector<std::optional<SourceLine>> functions;
  for (const EventId wait : lock_waits) {
    const std::vector<SourceLine> frames = frames_around(trace, wait);
    functions.push_back(frames.empty() ? std::nullopt : std::optional(frames.front()));
    if (!frames.empty()) holders[{frames.front().file, frames.front().function}];
  }
  for (const EventId wait : others)
    for (const SourceLine& frame : frames_around(trace, wait))
      if (const auto at = holders.find({frame.file, frame.function}); at != holders.end())
        at->second.push_back({wait, frame.line});
  std::map<Function, Nanoseconds> longest;
  for (const auto& [function, waits] : holders) longest[function] = longest_of(trace, waits);
  Covering covering(trace);
  for (std::size_t i = 0; i < lock_waits.size(); ++i) {
    const std::optional<SourceLine>& at = functions[i];
    const Function function = at ? Function{at->file, at->function} : Function{};
    covering.add(lock_waits[i], holders[function], longest[function], at ? at->line : 0);
  }
  return covering.take();
}

}  // namespace

IdleHolding idle_holding(const Trace& trace, const std::vector<EventId>& lock_waits) {
  const std::vector<EventId> others = other_waits(trace);
  IdleHolding found = in_same_function(trace, lock_waits, others);
  if (found.total > 0) return found;
  const std::optional<LockHolder> holder = lock_holder(trace, lock_waits);
  if (!holder) return found;
  std::vector<WaitIn> waits;
  for (const EventId wait : others)
    if (source_line(trace, wait) == holder->source) waits.push_back({wait, 0});
  Covering covering(trace);
  for (const EventId wait : lock_waits) covering.add(wait, waits, longest_of(trace, waits), 0);
  return covering.take();
}

std::optional<LockHolder> lock_holder(const Trace& trace, const std::vector<EventId>& calls) {
  if (calls.empty()) return std::nullopt;
  std::vector<Interval> waits;
  for (const EventId call : calls) waits.push_back({trace.events.start[call], trace.events.end(call)});
  waits = united(std::move(waits));
  std::map<Place, Nanoseconds> time_by_place;
  for (TrackId track = 0; track < trace.tracks.size(); ++track)
    if (trace.tracks[track].kind == TrackKind::kThread && track != trace.events.track[calls.front()])
      add_lines(trace, track, waits, time_by_place);
  const auto most = std::ranges::max_element(time_by_place, {}, [](const auto& each) { return each.second; });
  if (most == time_by_place.end()) return std::nullopt;
  if (static_cast<double>(most->second) < kLeastShareOfWait * static_cast<double>(total_length(waits)))
    return std::nullopt;
  const auto& [thread, file, line, function] = most->first;
  return LockHolder{std::string(trace.strings[trace.tracks[thread].name]), {file, line, function}};
}

}  // namespace telltale
