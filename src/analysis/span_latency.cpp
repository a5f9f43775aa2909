#include "analysis/span_latency.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/host_activity.h"
#include "analysis/nearest_rank.h"
#include "trace/nesting.h"

namespace telltale {
namespace {

// No real program comes near these; beyond them, what serves stays unknown, so that no file makes us look for ever.
constexpr std::size_t kMostThreads = 1024;
constexpr int kDeepest = 256;              // scopes that are looked at around a moment
constexpr std::ptrdiff_t kMostLooks = 64;  // arrows that left before a moment

// Calls `visit` with each event of the track that is open at `time`, from the innermost outwards.
template <typename Visit>
void for_each_open_at(const Trace& trace, const OpenRows& rows, TrackId track, Nanoseconds time, Visit visit) {
  EventId hint = trace.tracks[track].first_event;
  EventId event = rows.innermost_at(trace.tracks[track], time, hint);
  for (int depth = 0; event != kNoEvent && depth < kDeepest; ++depth, event = trace.events.parent[event]) visit(event);
}

std::vector<TrackId> those_set(const std::vector<bool>& is_set) {
  std::vector<TrackId> tracks;
  for (TrackId track = 0; track < is_set.size() && tracks.size() < kMostThreads; ++track)
    if (is_set[track]) tracks.push_back(track);
  return tracks;
}

}  // namespace

SpanServices::SpanServices(const Trace& trace) : trace_(trace), open_rows_(trace.events) {
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
    for_each_open_at(trace_, open_rows_, track, end, [&](EventId target) {
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
    for_each_open_at(trace_, open_rows_, track, begin, [&](EventId source) {
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

namespace {

// What comes less often has no distribution to speak of.
constexpr std::size_t kLeastRepeats = 3;

struct Spans {
  std::vector<EventId> events;
  std::int64_t unfinished = 0;
};
using SpansByName = std::map<std::pair<bool, StringId>, Spans>;  // whether on a thread, and the name

bool is_scope(Kind kind) { return kind == Kind::kAnnotation || kind == Kind::kOther; }

SpansByName spans_in(const Trace& trace, Interval window, const std::vector<bool>& is_step) {
  SpansByName spans;
  const Events& events = trace.events;
  for (const Track& track : trace.tracks) {
    const bool is_thread = track.kind == TrackKind::kThread;
    if (!is_thread && track.kind != TrackKind::kAsync) continue;
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      const EventId parent = events.parent[event];
      const bool is_top = parent == kNoEvent || is_step[parent];
      if (events.start[event] < window.begin || events.start[event] >= window.end) continue;
      if (is_thread && (!is_top || is_step[event] || !is_scope(events.kind[event]))) continue;
      Spans& same = spans[{is_thread, events.name[event]}];
      // Readers keep a span that nothing ends as one without a duration.
      if (!is_thread && events.duration[event] == 0)
        ++same.unfinished;
      else
        same.events.push_back(event);
    }
  }
  return spans;
}

SpanLatency latency_of(const Trace& trace, const Spans& spans) {
  SpanLatency latency;
  std::vector<Nanoseconds> times;
  for (const EventId event : spans.events) {
    const Nanoseconds time = trace.events.duration[event];
    times.push_back(time);
    latency.total_ns += time;
    if (latency.longest == kNoEvent || time > trace.events.duration[latency.longest]) latency.longest = event;
  }
  std::ranges::sort(times);
  latency.count = static_cast<std::int64_t>(times.size());
  latency.unfinished = spans.unfinished;
  latency.p50_ns = nearest_rank(times, 50);
  latency.p90_ns = nearest_rank(times, 90);
  latency.p99_ns = nearest_rank(times, 99);
  latency.max_ns = nearest_rank(times, 100);
  return latency;
}

// When at least one of the threads has nothing to do, though it is there.
class IdleTimes {
 public:
  IdleTimes(const Trace& trace, const std::vector<TrackId>& threads, const std::vector<bool>& is_step) {
    std::vector<Interval> idle;
    for (const TrackId thread : threads) {
      const std::vector<Interval> busy = busy_times(trace, thread, is_step);
      if (busy.empty()) continue;
      const std::vector<Interval> gaps = gaps_between(busy, {busy.front().begin, busy.back().end});
      idle.insert(idle.end(), gaps.begin(), gaps.end());
    }
    times_ = united(std::move(idle));
    Nanoseconds before = 0;
    for (const Interval& time : times_) {
      before_.push_back(before);
      before += time.length();
    }
  }

  Nanoseconds within(Interval span) const { return until(span.end) - until(span.begin); }

 private:
  Nanoseconds until(Nanoseconds time) const {
    const auto later = std::ranges::upper_bound(times_, time, {}, &Interval::begin);
    if (later == times_.begin()) return 0;
    const auto index = static_cast<std::size_t>(later - times_.begin() - 1);
    return before_[index] + std::min(time, times_[index].end) - times_[index].begin;
  }

  std::vector<Interval> times_;
  std::vector<Nanoseconds> before_;  // of each, how long all before it take
};

double busy_percent(const Trace& trace, const std::vector<TrackId>& threads, Interval window,
                    const std::vector<bool>& is_step) {
  Nanoseconds busy = 0;
  for (const TrackId thread : threads) busy += total_length(clipped(busy_times(trace, thread, is_step), window));
  const double whole = static_cast<double>(window.length()) * static_cast<double>(threads.size());
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(busy) / whole;
}

std::optional<SpanWaiting> waiting_of(const Trace& trace, const Spans& spans, const SpanServices& services,
                                      Interval window, const std::vector<bool>& is_step) {
  SpanWaiting waiting;
  std::vector<Interval> waits;
  std::map<StringId, std::int64_t> served_in;
  std::set<TrackId> threads;
  for (const EventId span : spans.events) {
    const EventId server = services.served_by(span);
    if (server == kNoEvent) continue;
    waits.push_back({trace.events.start[span], trace.events.start[server]});
    waiting.total_ns += trace.events.duration[span];
    ++served_in[trace.events.name[server]];
    threads.insert(trace.events.track[server]);
  }
  if (waits.empty()) return std::nullopt;
  waiting.threads.assign(threads.begin(), threads.end());

  const IdleTimes idle(trace, waiting.threads, is_step);
  std::vector<Nanoseconds> lengths;
  for (const Interval& wait : waits) {
    lengths.push_back(wait.length());
    waiting.waiting_ns += wait.length();
    waiting.beside_idle_ns += idle.within(wait);
  }
  std::ranges::sort(lengths);
  waiting.spans = static_cast<std::int64_t>(waits.size());
  waiting.p50_ns = nearest_rank(lengths, 50);
  waiting.p99_ns = nearest_rank(lengths, 99);
  const auto most = std::ranges::max_element(served_in, {}, [](const auto& each) { return each.second; });
  waiting.served_in = trace.strings[most->first];
  waiting.busy_percent = busy_percent(trace, waiting.threads, window, is_step);
  return waiting;
}

}  // namespace

std::vector<SpanLatency> span_latencies(const Trace& trace, Interval window) {
  const std::vector<bool> is_step = step_marks(trace);
  const SpanServices services(trace);
  std::vector<SpanLatency> latencies;
  for (const auto& [key, spans] : spans_in(trace, window, is_step)) {
    const auto& [is_thread, name] = key;
    if (is_thread && spans.events.size() < kLeastRepeats) continue;
    SpanLatency latency = latency_of(trace, spans);
    latency.name = trace.strings[name];
    latency.is_async = !is_thread;
    if (!is_thread) latency.waiting = waiting_of(trace, spans, services, window, is_step);
    latencies.push_back(std::move(latency));
  }
  std::ranges::sort(latencies, [](const SpanLatency& a, const SpanLatency& b) {
    return std::tie(b.is_async, b.total_ns, a.name) < std::tie(a.is_async, a.total_ns, b.name);
  });
  return latencies;
}

}  // namespace telltale
