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

// Functions around a wait, innermost first, with their lines of that moment; 0 where nothing says.
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

// The time of a function that waits for locks: behind the line that takes the lock, it holds it.
struct LockingFunction {
  int line = 0;  // that takes the lock; 0 where nothing says
  Nanoseconds whole = 0, for_lock = 0, waiting_before = 0, waiting_behind = 0;
  std::map<EventId, Nanoseconds> waits_behind;

  // Of the time in which it holds the lock, that in which it waits for something else.
  double idle_share() const {
    const Nanoseconds held = std::max(waiting_behind, whole - for_lock - waiting_before);
    return held > 0 ? static_cast<double>(waiting_behind) / static_cast<double>(held) : 0;
  }
};

class LockingFunctions {
 public:
  LockingFunctions(const Trace& trace, const std::vector<EventId>& lock_waits) : trace_(trace) {
    for (const EventId wait : lock_waits) {
      const std::vector<SourceLine> frames = frames_around(trace, wait);
      if (frames.empty()) continue;
      LockingFunction& function = functions_[{frames.front().file, frames.front().function}];
      function.line = function.line == 0 ? frames.front().line : std::min(function.line, frames.front().line);
    }
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (trace.events.kind[event] == Kind::kPython) add(event);
  }

  const LockingFunction* around(EventId lock_wait) const {
    const std::vector<SourceLine> frames = frames_around(trace_, lock_wait);
    const auto at = frames.empty() ? functions_.end() : functions_.find({frames.front().file, frames.front().function});
    return at == functions_.end() ? nullptr : &at->second;
  }
  const std::map<Function, LockingFunction>& all() const { return functions_; }

 private:
  void add(EventId event) {
    const WaitFor what = wait_of_call(trace_.name(event));
    const Nanoseconds time = trace_.events.duration[event];
    if (what == WaitFor::kNothing) {
      const auto frame = parsed_frame(trace_.name(event));
      const auto at = frame ? functions_.find({frame->file, frame->function}) : functions_.end();
      if (at != functions_.end()) at->second.whole += time;
      return;
    }
    const std::vector<SourceLine> frames = frames_around(trace_, event);
    for (const SourceLine& frame : frames) {
      const auto at = functions_.find({frame.file, frame.function});
      if (at == functions_.end()) continue;
      LockingFunction& function = at->second;
      if (what == WaitFor::kLock) {
        function.for_lock += time;
      } else if (frame.line > 0 && frame.line < function.line) {
        function.waiting_before += time;
      } else {
        function.waiting_behind += time;
        function.waits_behind[event] += time;
      }
    }
  }

  const Trace& trace_;
  std::map<Function, LockingFunction> functions_;
};

// Names the line that most of the time goes to.
void name_line(const Trace& trace, const std::map<EventId, Nanoseconds>& time_by_wait, IdleHolding& found) {
  std::map<std::tuple<std::string, int, std::string>, std::pair<Nanoseconds, EventId>> by_line;
  for (const auto& [wait, time] : time_by_wait) {
    const std::optional<SourceLine> line = source_line(trace, wait);
    if (!line) continue;
    auto& [total, example] = by_line[{line->file, line->line, line->function}];
    total += time;
    example = wait;
  }
  const auto most = std::ranges::max_element(by_line, {}, [](const auto& each) { return each.second.first; });
  if (most == by_line.end()) return;
  found.source = source_line(trace, most->second.second);
  found.what = waited_for(trace, most->second.second);
}

Interval span_of(const Trace& trace, EventId event) { return {trace.events.start[event], trace.events.end(event)}; }

// Where the lock is held in another function: what its waits cover of those for the lock.
IdleHolding held_at(const Trace& trace, const LockHolder& holder, const std::vector<EventId>& lock_waits) {
  std::vector<Interval> idle;
  std::map<EventId, Nanoseconds> time_by_wait;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kPython || trace.events.duration[event] <= 0) continue;
    const WaitFor what = wait_of_call(trace.name(event));
    if (what == WaitFor::kNothing || what == WaitFor::kLock || source_line(trace, event) != holder.source) continue;
    idle.push_back(span_of(trace, event));
    time_by_wait[event] = trace.events.duration[event];
  }
  idle = united(std::move(idle));
  IdleHolding found;
  for (const EventId wait : lock_waits) {
    const Interval span = span_of(trace, wait);
    Nanoseconds covered = 0;
    for (auto at = std::ranges::upper_bound(idle, span.begin, {}, &Interval::end);
         at != idle.end() && at->begin < span.end; ++at)
      covered += common_length(*at, span);
    found.idle.push_back(covered);
    found.total += covered;
  }
  name_line(trace, time_by_wait, found);
  return found;
}

}  // namespace

IdleHolding idle_holding(const Trace& trace, const std::vector<EventId>& lock_waits) {
  const LockingFunctions functions(trace, lock_waits);
  const bool wait_elsewhere = std::ranges::all_of(functions.all(), [](const auto& each) {
    return each.second.waiting_before == 0 && each.second.waiting_behind == 0;
  });
  const std::optional<LockHolder> other = wait_elsewhere ? lock_holder(trace, lock_waits) : std::nullopt;
  if (other) return held_at(trace, *other, lock_waits);
  IdleHolding found;
  std::map<EventId, Nanoseconds> time_by_wait;
  for (const EventId wait : lock_waits) {
    const LockingFunction* const function = functions.around(wait);
    const double share = function == nullptr ? 0 : function->idle_share();
    found.idle.push_back(static_cast<Nanoseconds>(share * static_cast<double>(trace.events.duration[wait])));
    found.total += found.idle.back();
    if (function != nullptr && found.idle.back() > 0)
      time_by_wait.insert(function->waits_behind.begin(), function->waits_behind.end());
  }
  name_line(trace, time_by_wait, found);
  return found;
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
