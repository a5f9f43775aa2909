#include "advise/patterns/host_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "advise/patterns/host_time.h"
#include "analysis/host_timeline.h"

namespace telltale {
namespace {

constexpr Nanoseconds kLongStretch = 200'000;

constexpr auto kCopying = std::to_array<std::string_view>(
    {"aten::to", "aten::_to_copy", "aten::copy_", "aten::_copy_from", "aten::cuda", "aten::cpu"});
constexpr auto kCopyingMethods = std::to_array<std::string_view>({"to of ", "copy_ of ", "cuda of ", "cpu of "});

// "<built-in method to of Tensor object at 0x7f57b78b7c50>"
bool is_copying_method(std::string_view frame) {
  constexpr std::string_view kPrefix = "<built-in method ";
  if (!frame.starts_with(kPrefix)) return false;
  frame.remove_prefix(kPrefix.size());
  return std::ranges::any_of(kCopyingMethods, [&](std::string_view method) { return frame.starts_with(method); });
}

bool only_copies(const Trace& trace, EventId event) {
  const std::string_view name = trace.name(event);
  if (trace.events.kind[event] == Kind::kPython) return is_copying_method(name);
  return trace.events.kind[event] == Kind::kOperator && std::ranges::find(kCopying, name) != kCopying.end();
}

// By event: whether it, or anything called within it, is an operator or an API call.
std::vector<bool> events_with_operators(const Trace& trace) {
  const Events& events = trace.events;
  std::vector<bool> has_operator(events.size());
  for (EventId event = static_cast<EventId>(events.size()); event-- > 0;) {
    if (events.kind[event] == Kind::kOperator || is_api_call(events.kind[event])) has_operator[event] = true;
    if (has_operator[event] && events.parent[event] != kNoEvent) has_operator[events.parent[event]] = true;
  }
  return has_operator;
}

// Whose frames are of functions of the user's, and of libraries other than torch that are not the user's.
struct NamesOfCode {
  explicit NamesOfCode(const Trace& trace)
      : is_users(names_where(trace,
                             [](std::string_view name) {
                               const std::optional<SourceLine> frame = parsed_frame(name);
                               return frame && !is_library_frame(*frame);
                             })),
        is_other_librarys(names_where(trace, [](std::string_view name) {
          const std::optional<SourceLine> frame = parsed_frame(name);
          return frame && is_library_frame(*frame) && !frame->file.contains("torch/");
        })) {}

  std::vector<bool> is_users, is_other_librarys;
};

}  // namespace

EventId function_around(const Trace& trace, EventId event) {
  while (event != kNoEvent && trace.events.kind[event] == Kind::kAnnotation) event = trace.events.parent[event];
  return event != kNoEvent && trace.events.kind[event] == Kind::kPython ? event : kNoEvent;
}

std::vector<EventId> covering_calls(const Facts& facts, HostWork work) {
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  const Events& events = facts.trace.events;
  std::vector<EventId> calls;
  for (const TrackId thread : launching_threads(facts.trace, {steps.front().host.begin, steps.back().host.end})) {
    const Track& track = facts.trace.tracks[thread];
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (facts.host_work[event] != work) continue;
      const EventId parent = events.parent[event];
      if (parent != kNoEvent && facts.host_work[parent] == work) continue;
      if (facts.is_in_steps(event)) calls.push_back(event);
    }
  }
  std::ranges::stable_sort(calls, std::ranges::greater{}, [&](EventId call) { return events.duration[call]; });
  return calls;
}

Nanoseconds time_in(const Facts& facts, const std::vector<EventId>& calls) {
  Nanoseconds time = 0;
  for (const EventId call : calls) time += facts.trace.events.duration[call];
  return static_cast<Nanoseconds>(static_cast<double>(time) / facts.steps());
}

std::size_t steps_with(const Facts& facts, const std::vector<EventId>& calls) {
  std::set<int> steps;
  for (const EventId call : calls) steps.insert(step_at(facts.diagnosis.timing, facts.trace.events.start[call]));
  return steps.size();
}

EventId copying_call(const Trace& trace, EventId launch) {
  EventId call = launch;
  for (EventId at = trace.events.parent[launch]; at != kNoEvent && only_copies(trace, at); at = trace.events.parent[at])
    call = at;
  return call;
}

std::vector<EventId> find_user_python(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> has_operator = events_with_operators(trace);
  const NamesOfCode names(trace);
  const auto is_of_user = [&](EventId event) {
    if (names.is_users[trace.events.name[event]]) return true;
    const EventId caller = function_around(trace, trace.events.parent[event]);
    return names.is_other_librarys[trace.events.name[event]] && caller != kNoEvent &&
           names.is_users[trace.events.name[caller]];
  };
  std::vector<EventId> roots;
  std::vector<bool> is_covered(trace.events.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    is_covered[event] = parent != kNoEvent && is_covered[parent];
    if (is_covered[event] || trace.events.kind[event] != Kind::kPython || has_operator[event]) continue;
    if (!is_of_user(event) || facts.host_work[event] != HostWork::kPython) continue;
    if (!facts.is_in_steps(event)) continue;
    is_covered[event] = true;
    roots.push_back(event);
  }
  return roots;
}

std::vector<StretchedCall> find_stretched_calls(const Facts& facts) {
  const Trace& trace = facts.trace;
  const NamesOfCode names(trace);
  std::vector<bool> is_plain(trace.events.size());
  for (const EventId root : facts.user_python())
    std::fill(is_plain.begin() + root, is_plain.begin() + subtree_end(trace, root), true);
  struct OwnTime {
    Nanoseconds all = 0, in_stretches = 0;
    std::set<int> steps;
  };
  std::map<EventId, OwnTime> own_times;
  visit_host_time(facts, [&](const HostMoment& moment) {
    const EventId event = moment.here.event;
    const EventId function = function_around(trace, event);
    if (function == kNoEvent || is_plain[event] || facts.host_work[function] != HostWork::kPython) return;
    if (!names.is_users[trace.events.name[function]]) return;
    OwnTime& own = own_times[event];
    own.all += moment.here.when.length();
    if (moment.here.when.length() < kLongStretch) return;
    own.in_stretches += moment.here.when.length();
    own.steps.insert(step_at(facts.diagnosis.timing, moment.here.when.begin));
  });
  std::vector<StretchedCall> calls;
  for (const auto& [call, own] : own_times) {
    if (own.in_stretches == 0) continue;
    const double share = static_cast<double>(own.in_stretches) / static_cast<double>(own.all);
    calls.push_back(
        {call, function_around(trace, call), own.in_stretches, share, {own.steps.begin(), own.steps.end()}});
  }
  return calls;
}

}  // namespace telltale
