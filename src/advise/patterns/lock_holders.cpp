#include "advise/patterns/lock_holders.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/host_timeline.h"
#include "analysis/wait_names.h"
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

}  // namespace

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
