#include "trace/linking.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/merge_runs.h"

namespace telltale {
namespace {

// Events by a number that they carry, and by time.
class NumberIndex {
 public:
  struct Entry {
    std::int64_t number = 0;
    Nanoseconds start = 0;
    EventId event = kNoEvent;
    auto operator<=>(const Entry&) const = default;
  };

  void add(std::int64_t number, Nanoseconds start, EventId event) { entries_.push_back({number, start, event}); }
  void sort() { merge_runs(std::span(entries_), std::less<>()); }
  bool empty() const { return entries_.empty(); }

  // All events with that number. Looks first where the last search ended: numbers are asked for in rising order.
  std::span<const Entry> find(std::int64_t number) {
    if (hint_ >= entries_.size() || entries_[hint_].number > number) hint_ = 0;
    std::size_t step = 1;
    while (hint_ + step < entries_.size() && entries_[hint_ + step].number < number) {
      hint_ += step;
      step *= 2;
    }
    const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(hint_);
    const auto to = entries_.begin() + static_cast<std::ptrdiff_t>(std::min(hint_ + step + 1, entries_.size()));
    const auto by_number = [](const Entry& entry, std::int64_t value) { return entry.number < value; };
    auto first = std::lower_bound(from, to, number, by_number);
    hint_ = static_cast<std::size_t>(first - entries_.begin());
    if (first == entries_.end() || first->number != number) return {};
    // Most numbers are unique.
    auto last = first + 1;
    if (last != entries_.end() && last->number == number)
      last = std::upper_bound(last, entries_.end(), number,
                              [](std::int64_t value, const Entry& entry) { return value < entry.number; });
    return {first, last};
  }

 private:
  std::vector<Entry> entries_;
  std::size_t hint_ = 0;
};

// The last entry that starts at or before `time`; the first one when all start later.
EventId last_before(std::span<const NumberIndex::Entry> entries, Nanoseconds time) {
  const auto behind =
      std::upper_bound(entries.begin(), entries.end(), time,
                       [](Nanoseconds value, const NumberIndex::Entry& entry) { return value < entry.start; });
  return behind == entries.begin() ? entries.front().event : (behind - 1)->event;
}

bool has_launch(Kind kind) { return is_on_device(kind) && kind != Kind::kDeviceAnnotation; }

bool is_inside_operator(const Events& events, EventId event) {
  EventId at = events.parent[event];
  while (at != kNoEvent && events.kind[at] != Kind::kOperator) at = events.parent[at];
  return at != kNoEvent;
}

// Links what is left by the last operator in row order that has the same external id.
void link_by_external_id(Events& events, std::span<const EventLink> links, std::span<const EventLink> operators) {
  NumberIndex index;
  for (const EventLink& link : operators)
    if (link.external_id != 0) index.add(link.external_id, 0, link.event);
  index.sort();
  for (const EventLink& link : links) {
    if (link.external_id == 0) continue;
    if (const auto found = index.find(link.external_id); !found.empty()) events.cause[link.event] = found.back().event;
  }
}

}  // namespace

LinkTrouble link_launches(Events& events, std::span<const EventLink> links,
                          const std::function<std::vector<EventLink>()>& operator_links) {
  LinkTrouble trouble;
  NumberIndex launches;
  for (const EventLink& link : links)
    if (link.correlation != 0 && is_api_call(events.kind[link.event]))
      launches.add(link.correlation, events.start[link.event], link.event);
  launches.sort();

  std::vector<EventLink> left;
  for (const EventLink& link : links) {
    const Kind kind = events.kind[link.event];
    if (has_launch(kind)) {
      const auto found =
          link.correlation == 0 ? std::span<const NumberIndex::Entry>() : launches.find(link.correlation);
      if (found.size() > 1) trouble.ambiguous.push_back(link.event);
      if (found.empty())
        left.push_back(link);
      else
        events.cause[link.event] = last_before(found, events.start[link.event]);
    } else if (is_api_call(kind) && link.external_id != 0 && !is_inside_operator(events, link.event)) {
      left.push_back(link);
    }
  }
  if (!left.empty()) link_by_external_id(events, left, operator_links());
  for (EventId id = 0; id < events.size(); ++id)
    if (is_device_work(events.kind[id]) && events.cause[id] == kNoEvent) trouble.lost.push_back(id);
  return trouble;
}

LinkTrouble link_backward(Trace& trace, std::span<const ForwardThread> threads) {
  LinkTrouble trouble;
  Events& events = trace.events;
  struct Forward {
    std::int64_t sequence;
    TrackId track;
    Nanoseconds start;
    EventId event;
    auto operator<=>(const Forward&) const = default;
  };
  std::vector<Forward> forwards;
  bool has_backward = false;
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const OperatorInfo& info = trace.operators.row(i);
    const EventId event = trace.operators.event(i);
    if (info.sequence < 0 || events.kind[event] != Kind::kOperator) continue;
    if (info.forward_thread == 0)
      forwards.push_back({info.sequence, events.track[event], events.start[event], event});
    else
      has_backward = true;
  }
  if (!has_backward) return trouble;
  merge_runs(std::span(forwards), std::less<>());

  const auto latest_before = [&](std::int64_t sequence, TrackId track, Nanoseconds time) {
    const auto behind = std::lower_bound(forwards.begin(), forwards.end(), Forward{sequence, track, time, 0});
    if (behind == forwards.begin()) return kNoEvent;
    const Forward& found = *(behind - 1);
    return found.sequence == sequence && found.track == track ? found.event : kNoEvent;
  };
  // Without a flow that tells the thread, the forward operators must all stand on one.
  const auto only_track_with = [&](std::int64_t sequence, Nanoseconds time) -> std::optional<TrackId> {
    std::optional<TrackId> track;
    auto at = std::lower_bound(forwards.begin(), forwards.end(), Forward{sequence, 0, INT64_MIN, 0});
    while (at != forwards.end() && at->sequence == sequence) {
      if (at->start < time) {
        if (track) return std::nullopt;
        track = at->track;
      }
      at = std::lower_bound(at, forwards.end(), Forward{sequence, at->track + 1, INT64_MIN, 0});
    }
    return track;
  };

  std::map<std::uint32_t, TrackId> track_of_thread;
  for (const ForwardThread& thread : threads) track_of_thread.try_emplace(thread.number, thread.track);
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const OperatorInfo& info = trace.operators.row(i);
    const EventId event = trace.operators.event(i);
    if (info.sequence < 0 || info.forward_thread == 0 || events.kind[event] != Kind::kOperator) continue;
    const auto known = track_of_thread.find(info.forward_thread);
    const auto track = known != track_of_thread.end() ? std::optional(known->second)
                                                      : only_track_with(info.sequence, events.start[event]);
    const EventId forward = track ? latest_before(info.sequence, *track, events.start[event]) : kNoEvent;
    events.cause[event] = forward;
    if (forward == kNoEvent) trouble.lost.push_back(event);
  }
  return trouble;
}

}  // namespace telltale
