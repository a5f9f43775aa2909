#include "analysis/requests.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/names_where.h"
#include "analysis/nearest_rank.h"
#include "analysis/sample_rows.h"
#include "analysis/source_line.h"

namespace telltale {
namespace {

// Whether most requests run where an event loop does is seen at so many of them.
constexpr std::size_t kMostLooks = 64;
// What comes less often has no distribution to speak of.
constexpr std::size_t kLeastRequests = 3;
// Of the calls of modules: what a function's calls have to make to be what is asked for.
constexpr double kShareCovered = 0.8;
// Of the time from one request to the next that a server waits. In a loop that does something else there, the whole
// loop is what repeats.
constexpr double kLeastWaiting = 0.5;

bool trains(const Trace& trace) {
  if (!trace.steps.empty()) return true;
  for (std::size_t i = 0; i < trace.operators.size(); ++i)
    if (trace.operators.row(i).forward_thread != 0) return true;
  const std::vector<bool> is_optimizer =
      names_where(trace, [](std::string_view name) { return name.starts_with("Optimizer.step"); });
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kAnnotation && is_optimizer[trace.events.name[event]]) return true;
  return false;
}

Interval span_of(const Trace& trace, EventId event) { return {trace.events.start[event], trace.events.end(event)}; }

// The calls of one function or range that hold calls of modules.
struct Callers {
  std::map<EventId, std::int64_t> calls;  // of modules, in each
  std::set<TrackId> threads;
  std::int64_t total_calls = 0;
  Nanoseconds total = 0;
};

// Functions of torch and of the standard library stand around whatever they call: decorators, loops of servers.
bool may_answer(std::string_view function) {
  const auto frame = parsed_frame(function);
  return frame && owner_of(frame->file) != CodeOwner::kLibrary;
}

std::map<StringId, Callers> callers_of(const Trace& trace, const std::vector<EventId>& modules) {
  std::map<StringId, Callers> callers;
  for (const EventId module : modules) {
    for (EventId at = trace.events.parent[module]; at != kNoEvent; at = trace.events.parent[at]) {
      const Kind kind = trace.events.kind[at];
      if (kind != Kind::kAnnotation && !(kind == Kind::kPython && may_answer(trace.name(at)))) continue;
      Callers& same = callers[trace.events.name[at]];
      same.threads.insert(trace.events.track[at]);
      ++same.total_calls;
      if (++same.calls[at] == 1) same.total += trace.events.duration[at];
    }
  }
  return callers;
}

// A thread's own loop holds all calls, once; the function to find makes several, again and again. Of several such, the
// one that takes the least time is the innermost.
const Callers* makers_of_several(const std::map<StringId, Callers>& callers, std::size_t modules) {
  const Callers* best = nullptr;
  for (const auto& [name, each] : callers) {
    const bool repeats = each.calls.size() >= std::max(kLeastRequests, 2 * each.threads.size() + 1);
    const bool makes_several = each.total_calls >= 2 * static_cast<std::int64_t>(each.calls.size());
    const bool covers = static_cast<double>(each.total_calls) >= kShareCovered * static_cast<double>(modules);
    if (repeats && makes_several && covers && (best == nullptr || each.total < best->total)) best = &each;
  }
  return best;
}

// Of modules that stand side by side, those that take most of the time.
std::vector<EventId> calls_of_main_module(const Trace& trace, const std::vector<EventId>& modules) {
  std::map<StringId, std::vector<EventId>> by_name;
  std::map<StringId, Nanoseconds> time;
  for (const EventId module : modules) {
    by_name[trace.events.name[module]].push_back(module);
    time[trace.events.name[module]] += trace.events.duration[module];
  }
  const auto most = std::ranges::max_element(time, {}, [](const auto& entry) { return entry.second; });
  return most == time.end() ? std::vector<EventId>{} : by_name[most->first];
}

// "nn.Module: Net_0" → "Net"; "serve.py(12): answer" → "answer"
std::string plain_name(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  if (const auto frame = parsed_frame(name)) return frame->function;
  if (!name.starts_with(kModule)) return std::string(name);
  name.remove_prefix(kModule.size());
  const std::size_t digits = name.find_last_not_of("0123456789");
  const bool is_numbered = digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_';
  return std::string(is_numbered ? name.substr(0, digits) : name);
}

void count_at_once(const Trace& trace, Requests& requests) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const EventId event : requests.events) {
    changes.emplace_back(trace.events.start[event], 1);
    changes.emplace_back(trace.events.end(event), -1);
  }
  std::ranges::sort(changes);
  std::int64_t now = 0;
  Nanoseconds last = 0, any = 0;
  for (const auto& [time, change] : changes) {
    if (now > 0) any += time - last;
    last = time;
    now += change;
    requests.most_at_once = std::max(requests.most_at_once, now);
  }
  if (any > 0) requests.mean_at_once = static_cast<double>(requests.total_ns) / static_cast<double>(any);
}

std::vector<WaitTime> by_falling_time(const std::map<std::string_view, Nanoseconds>& times) {
  std::vector<WaitTime> waits;
  for (const auto& [what, time] : times) waits.push_back({std::string(what), time});
  std::ranges::stable_sort(waits, std::ranges::greater{}, &WaitTime::ns);
  return waits;
}

// The parts of united intervals that lie in the window, found by a search among them.
std::vector<Interval> parts_within(const std::vector<Interval>& united, Interval window) {
  std::vector<Interval> parts;
  auto at = std::ranges::upper_bound(united, window.begin, {}, &Interval::end);
  for (; at != united.end() && at->begin < window.end; ++at)
    parts.push_back({std::max(at->begin, window.begin), std::min(at->end, window.end)});
  return parts;
}

std::vector<Interval> on_thread(const Trace& trace, const Requests& requests, TrackId thread) {
  std::vector<Interval> spans;
  for (const EventId event : requests.events)
    if (trace.events.track[event] == thread) spans.push_back(span_of(trace, event));
  return united(std::move(spans));
}

void sum_up_waits(const Trace& trace, Requests& requests) {
  const std::vector<bool> is_wait = names_where(trace, [](std::string_view name) { return !awaited_in(name).empty(); });
  std::map<std::string_view, Nanoseconds> between, inside;
  for (const TrackId id : requests.threads) {
    const std::vector<Interval> served = on_thread(trace, requests, id);
    const Track& thread = trace.tracks[id];
    for (EventId event = thread.first_event; event < thread.first_event + thread.event_count; ++event) {
      if (!is_wait[trace.events.name[event]]) continue;
      const Interval wait{std::max(trace.events.start[event], requests.window.begin),
                          std::min(trace.events.end(event), requests.window.end)};
      if (wait.end <= wait.begin) continue;
      const Nanoseconds within = total_length(parts_within(served, wait));
      const std::string_view what = awaited_in(trace.name(event));
      if (within > 0) inside[what] += within;
      if (wait.length() > within) between[what] += wait.length() - within;
    }
  }
  requests.waits_between = by_falling_time(between);
  requests.waits_inside = by_falling_time(inside);
}

// The first operator inside that says it.
std::optional<std::int64_t> rows_of(const Trace& trace, EventId request) {
  const Track& thread = trace.tracks[trace.events.track[request]];
  const Nanoseconds end = trace.events.end(request);
  for (EventId event = request + 1; event < thread.first_event + thread.event_count; ++event) {
    if (trace.events.start[event] >= end) break;
    if (const auto rows = sample_rows(trace, event)) return rows;
  }
  return std::nullopt;
}

std::optional<std::int64_t> usual_rows(const Trace& trace, const std::vector<EventId>& requests) {
  std::map<std::int64_t, std::size_t> count;
  for (const EventId request : requests)
    if (const auto rows = rows_of(trace, request)) ++count[*rows];
  const auto most = std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; });
  if (most == count.end() || 2 * most->second < requests.size()) return std::nullopt;
  return most->first;
}

bool is_on_event_loop(const Trace& trace, EventId request) {
  for (EventId at = trace.events.parent[request]; at != kNoEvent; at = trace.events.parent[at])
    if (trace.events.kind[at] == Kind::kPython && trace.name(at).contains("asyncio/")) return true;
  return false;
}

bool are_on_event_loop(const Trace& trace, const std::vector<EventId>& requests) {
  const std::size_t looks = std::min(requests.size(), kMostLooks);
  const auto on_loop = std::count_if(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(looks),
                                     [&](EventId request) { return is_on_event_loop(trace, request); });
  return 2 * static_cast<std::size_t>(on_loop) >= looks;
}

// Who waits for one of these waits for work; who sleeps has chosen to.
bool is_for_work(std::string_view what) {
  return what == "lock" || what == "socket" || what == "poll" || what == "pipe";
}

std::vector<Interval> idle_times(const Trace& trace, const Track& thread, Interval window, SilentTime silent) {
  std::vector<Interval> covered, waits;
  for (EventId event = thread.first_event; event < thread.first_event + thread.event_count; ++event) {
    if (trace.events.parent[event] == kNoEvent) covered.push_back(span_of(trace, event));
    if (is_for_work(awaited_in(trace.name(event)))) waits.push_back(span_of(trace, event));
  }
  const std::vector<Interval> waited = clipped(united(std::move(waits)), window);
  if (silent == SilentTime::kIsWork) return waited;
  std::vector<Interval> idle = gaps_between(clipped(united(std::move(covered)), window), window);
  idle.insert(idle.end(), waited.begin(), waited.end());
  return united(std::move(idle));
}

// The longest idle time between two requests; empty at the second where there is none.
Interval longest_idle(const std::vector<Interval>& idle, Interval between) {
  Interval longest{between.end, between.end};
  for (const Interval& each : parts_within(idle, between))
    if (each.length() > longest.length()) longest = each;
  return longest;
}

}  // namespace

std::vector<EventId> outermost_modules(const Trace& trace) {
  std::vector<EventId> calls;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::kThread) continue;
    Nanoseconds until = INT64_MIN;
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (trace.events.kind[event] != Kind::kModule || trace.events.start[event] < until) continue;
      calls.push_back(event);
      until = trace.events.end(event);
    }
  }
  return calls;
}

std::string_view awaited_in(std::string_view name) {
  constexpr std::string_view kBegin = "<waits for ";
  if (!name.starts_with(kBegin) || !name.ends_with('>')) return {};
  return name.substr(kBegin.size(), name.size() - kBegin.size() - 1);
}

double Requests::per_second() const {
  return window.length() <= 0 ? 0 : 1e9 * static_cast<double>(events.size()) / static_cast<double>(window.length());
}

std::optional<Requests> requests_of(const Trace& trace) {
  if (trains(trace)) return std::nullopt;
  const std::vector<EventId> modules = outermost_modules(trace);
  if (modules.size() < kLeastRequests) return std::nullopt;
  Requests requests;
  const std::map<StringId, Callers> callers = callers_of(trace, modules);
  if (const Callers* const makers = makers_of_several(callers, modules.size())) {
    requests.are_calls_of_module = false;
    for (const auto& [event, calls] : makers->calls) requests.events.push_back(event);
    requests.calls = static_cast<double>(makers->total_calls) / static_cast<double>(makers->calls.size());
  } else {
    requests.events = calls_of_main_module(trace, modules);
    if (requests.events.size() < kLeastRequests) return std::nullopt;
  }
  std::ranges::sort(requests.events, {}, [&](EventId event) { return trace.events.start[event]; });
  std::vector<Nanoseconds> times;
  for (const EventId event : requests.events) times.push_back(trace.events.duration[event]);
  std::ranges::sort(times);
  requests.p50_ns = nearest_rank(times, 50);
  requests.p99_ns = nearest_rank(times, 99);
  for (const Nanoseconds time : times) requests.total_ns += time;
  requests.name = plain_name(trace.name(requests.events.front()));
  requests.window.begin = trace.events.start[requests.events.front()];
  std::set<TrackId> threads;
  for (const EventId event : requests.events) {
    threads.insert(trace.events.track[event]);
    requests.window.end = std::max(requests.window.end, trace.events.end(event));
  }
  requests.threads.assign(threads.begin(), threads.end());
  count_at_once(trace, requests);
  const double whole = static_cast<double>(requests.window.length()) * static_cast<double>(threads.size());
  if (whole > 0) requests.busy_percent = 100.0 * static_cast<double>(requests.total_ns) / whole;
  sum_up_waits(trace, requests);
  requests.rows = usual_rows(trace, requests.events);
  requests.are_on_event_loop = are_on_event_loop(trace, requests.events);
  return requests;
}

std::vector<Interval> served_passes(const Trace& trace, SilentTime silent) {
  const std::optional<Requests> requests = requests_of(trace);
  if (!requests) return {};
  std::vector<Interval> spans;
  TrackId busiest = 0;
  for (const TrackId thread : requests->threads) {
    std::vector<Interval> here = on_thread(trace, *requests, thread);
    if (total_length(here) <= total_length(spans)) continue;
    spans = std::move(here);
    busiest = thread;
  }
  if (spans.size() < kLeastRequests) return {};
  const std::vector<Interval> idle =
      idle_times(trace, trace.tracks[busiest], {spans.front().begin, spans.back().end}, silent);
  std::vector<Interval> passes;
  Nanoseconds begin = spans.front().begin, between = 0, waited = 0;
  for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
    const Interval gap{spans[i].end, spans[i + 1].begin};
    const Interval wait = longest_idle(idle, gap);
    between += gap.length();
    waited += wait.length();
    passes.push_back({begin, wait.begin});
    begin = wait.end;
  }
  passes.push_back({begin, spans.back().end});
  const bool is_worth_it = static_cast<double>(waited) >= kLeastWaiting * static_cast<double>(between);
  return waited > 0 && is_worth_it ? passes : std::vector<Interval>{};
}

}  // namespace telltale
