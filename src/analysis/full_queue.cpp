#include "analysis/full_queue.h"

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

// A shallower queue is never full: drivers hold hundreds of launches at least.
constexpr std::int64_t kShallowestFull = 128;
// Calls at this share of the greatest depth stand at the same depth: others than launches take room as well, so that a
// full queue of 1,024 shows as 1,019 to 1,022 launches (H200, 5 programs).
constexpr double kShareOfFull = 0.97;
// Below this share there is room, and calls show what they take themselves.
constexpr double kShareWithRoom = 0.9;
// A call that waits takes this many times what others of its name take, and at least so long.
constexpr Nanoseconds kTimesAsLong = 3;
constexpr Nanoseconds kLeastWait = 15'000;
// So many calls must have waited: one may be long by chance.
constexpr std::size_t kLeastWaitingCalls = 8;
// Calls of a name with room that tell what such a call takes; with fewer, all names together do.
constexpr std::size_t kLeastKin = 8;
// A queue that is full throughout leaves no calls with room. Then the shortest quarter tells, unless they wait as well:
// a call that only launches takes no longer than this.
constexpr Nanoseconds kLongestLaunch = 10'000;

struct QueuedCall {
  EventId call;
  std::int64_t depth;  // when it returned, itself included
};

// The queue of one stream. Work whose launch is not in the trace was launched before all other; the works of one call,
// a graph's, take the room of one.
class StreamQueue {
 public:
  StreamQueue(const Trace& trace, const Track& stream) {
    for (EventId event = stream.first_event; event < stream.first_event + stream.event_count; ++event) {
      if (!is_device_work(trace.events.kind[event])) continue;
      EventId call = trace.launch_of(event);
      if (call != kNoEvent && is_on_device(trace.events.kind[call])) call = kNoEvent;
      if (call != kNoEvent && !calls_.empty() && calls_.back() == call) continue;
      calls_.push_back(call);
      begins_.push_back(trace.events.start[event]);
    }
  }

  void add_calls(const Trace& trace, std::vector<QueuedCall>& queued) const {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (calls_[i] != kNoEvent) queued.push_back({calls_[i], count(i) + 1 - begun_at(trace.events.end(calls_[i]))});
  }

  // How many wait at a moment, by launches that were made before it.
  std::int64_t depth_at(const Trace& trace, Nanoseconds time) const {
    const auto launched = std::ranges::partition_point(
        calls_, [&](EventId call) { return call == kNoEvent || trace.events.start[call] < time; });
    return (launched - calls_.begin()) - begun_at(time);
  }

 private:
  static std::int64_t count(std::size_t value) { return static_cast<std::int64_t>(value); }
  std::int64_t begun_at(Nanoseconds time) const { return std::ranges::upper_bound(begins_, time) - begins_.begin(); }

  std::vector<EventId> calls_;  // in the order of their work
  std::vector<Nanoseconds> begins_;
};

// What calls take where there is room, by name. Requires calls.
class TypicalCalls {
 public:
  TypicalCalls(const Trace& trace, std::span<const QueuedCall> calls, double most_depth) : trace_(trace) {
    std::vector<Nanoseconds> with_room, all;
    std::unordered_map<StringId, std::vector<Nanoseconds>> by_name;
    for (const auto& [call, depth] : calls) {
      all.push_back(trace.events.duration[call]);
      if (static_cast<double>(depth) > most_depth) continue;
      with_room.push_back(trace.events.duration[call]);
      by_name[trace.events.name[call]].push_back(trace.events.duration[call]);
    }
    of_any_ = with_room.size() >= kLeastKin ? quantile(with_room, 1, 2) : std::min(quantile(all, 1, 4), kLongestLaunch);
    for (auto& [name, durations] : by_name)
      if (durations.size() >= kLeastKin) by_name_[name] = quantile(durations, 1, 2);
  }

  Nanoseconds of(EventId call) const {
    const auto found = by_name_.find(trace_.events.name[call]);
    return found == by_name_.end() ? of_any_ : found->second;
  }
  bool are_shorter_than(EventId call) const {
    const Nanoseconds taken = trace_.events.duration[call];
    return taken >= kLeastWait && taken > kTimesAsLong * of(call);
  }

 private:
  const Trace& trace_;
  Nanoseconds of_any_ = 0;
  std::unordered_map<StringId, Nanoseconds> by_name_;
};

// Calls that hand something to a stream and leave no device work behind.
bool takes_room_without_work(std::string_view call) {
  return call.contains("EventRecord") || call.contains("StreamWaitEvent");
}

}  // namespace

FullQueue::FullQueue(const Trace& trace) {
  std::vector<StreamQueue> streams;
  std::vector<QueuedCall> calls;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::kStream) continue;
    streams.emplace_back(trace, track);
    streams.back().add_calls(trace, calls);
  }
  std::int64_t deepest = 0;
  for (const QueuedCall& call : calls) deepest = std::max(deepest, call.depth);
  if (deepest < kShallowestFull) return;

  const double full = kShareOfFull * static_cast<double>(deepest);
  const TypicalCalls typical(trace, calls, kShareWithRoom * static_cast<double>(deepest));
  std::size_t waiting = 0;
  for (const auto& [call, depth] : calls)
    if (static_cast<double>(depth) >= full && typical.are_shorter_than(call)) ++waiting;
  if (waiting < kLeastWaitingCalls) return;

  capacity_ = static_cast<std::uint32_t>(deepest);
  for (const auto& [call, depth] : calls)
    if (static_cast<double>(depth) >= full && trace.events.duration[call] > typical.of(call))
      own_time_[call] = typical.of(call);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (!is_api_call(trace.events.kind[event]) || !typical.are_shorter_than(event)) continue;
    if (!takes_room_without_work(trace.name(event)) || own_time_.contains(event)) continue;
    const bool was_full = std::ranges::any_of(streams, [&](const StreamQueue& stream) {
      return static_cast<double>(stream.depth_at(trace, trace.events.start[event])) >= full;
    });
    if (was_full) own_time_[event] = typical.of(event);
  }
}

}  // namespace telltale
