#include "analysis/span_service.h"

#include <algorithm>
#include <ranges>
#include <tuple>

#include "trace/nesting.h"

namespace telltale {
namespace {

// No real program comes near these; beyond them, what serves stays unknown, so that no file makes us look for ever.
constexpr std::size_t kMostThreads = 1024;
constexpr int kDeepest = 256;              // scopes that are looked at around a moment
constexpr std::ptrdiff_t kMostLooks = 64;  // arrows that left before a moment

// Calls `visit` with each event of the track that is open at `time`, from the innermost outwards.
template <typename Visit>
void for_each_open_at(const Trace& trace, TrackId track, Nanoseconds time, Visit visit) {
  EventId hint = trace.tracks[track].first_event;
  EventId event = innermost_at(trace.events, trace.tracks[track], time, hint);
  for (int depth = 0; event != kNoEvent && depth < kDeepest; ++depth, event = trace.events.parent[event]) visit(event);
}

std::vector<TrackId> those_set(const std::vector<bool>& is_set) {
  std::vector<TrackId> tracks;
  for (TrackId track = 0; track < is_set.size() && tracks.size() < kMostThreads; ++track)
    if (is_set[track]) tracks.push_back(track);
  return tracks;
}

}  // namespace

SpanServices::SpanServices(const Trace& trace) : trace_(trace) {
  const auto is_on_thread = [&](EventId event) {
    return trace.tracks[trace.events.track[event]].kind == TrackKind::kThread;
  };
  std::vector<bool> is_source(trace.tracks.size()), is_target(trace.tracks.size());
  for (const Flow& flow : trace.flows) {
    if (!is_on_thread(flow.from) || !is_on_thread(flow.to)) continue;
    by_target_.push_back({flow.from, flow.to});
    is_source[trace.events.track[flow.from]] = true;
    is_target[trace.events.track[flow.to]] = true;
  }
  source_threads_ = those_set(is_source);
  target_threads_ = those_set(is_target);
  by_source_ = by_target_;
  const auto start = [&](EventId event) { return trace.events.start[event]; };
  std::ranges::sort(by_target_, {}, [&](const Arrow& arrow) { return std::tuple(arrow.to, start(arrow.from)); });
  std::ranges::sort(by_source_, {}, [&](const Arrow& arrow) { return std::tuple(arrow.from, start(arrow.to)); });
}

EventId SpanServices::served_by(EventId span) const {
  const EventId target = target_at_end(span);
  return target != kNoEvent ? target : only_target_within(span);
}

EventId SpanServices::target_at_end(EventId span) const {
  const Nanoseconds begin = trace_.events.start[span], end = trace_.events.end(span);
  EventId best = kNoEvent;
  Nanoseconds best_left = -1;
  for (const TrackId track : target_threads_) {
    for_each_open_at(trace_, track, end, [&](EventId target) {
      if (trace_.events.start[target] < begin) return;
      const Nanoseconds left = left_for(target, begin);
      if (left <= best_left) return;
      best = target;
      best_left = left;
    });
  }
  return best;
}

Nanoseconds SpanServices::left_for(EventId target, Nanoseconds time) const {
  auto arrows = std::ranges::equal_range(by_target_, target, {}, &Arrow::to);
  // Those that left later than `time` are no candidates; of the others, few are open that long.
  const auto later =
      std::ranges::upper_bound(arrows, time, {}, [&](const Arrow& arrow) { return trace_.events.start[arrow.from]; });
  const auto first = later - std::min(kMostLooks, later - arrows.begin());
  for (const Arrow& arrow : std::ranges::subrange(first, later) | std::views::reverse)
    if (trace_.events.end(arrow.from) >= time) return trace_.events.start[arrow.from];
  return -1;
}

EventId SpanServices::only_target_within(EventId span) const {
  const Nanoseconds begin = trace_.events.start[span], end = trace_.events.end(span);
  EventId found = kNoEvent;
  bool is_only = true;
  for (const TrackId track : source_threads_) {
    for_each_open_at(trace_, track, begin, [&](EventId source) {
      auto arrows = std::ranges::equal_range(by_source_, source, {}, &Arrow::from);
      const auto start = [&](const Arrow& arrow) { return trace_.events.start[arrow.to]; };
      const auto first = std::ranges::lower_bound(arrows, begin, {}, start);
      const auto last = std::ranges::upper_bound(arrows, end, {}, start);
      if (first == last) return;
      const EventId earliest = first->to, latest = std::prev(last)->to;
      is_only = is_only && earliest == latest && (found == kNoEvent || found == earliest);
      found = earliest;
    });
  }
  return is_only ? found : kNoEvent;
}

}  // namespace telltale
