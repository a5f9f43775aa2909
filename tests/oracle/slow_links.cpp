#include "slow_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "slow_arguments.h"

namespace telltale::oracle {
namespace {

bool contains(const Events& events, EventId outer, EventId inner) {
  return events.start[outer] <= events.start[inner] && events.end(outer) >= events.end(inner);
}

// They share time, and neither contains the other.
bool overlap_partially(const Events& events, EventId first, EventId second) {
  return events.start[second] < events.end(first) && events.end(first) < events.end(second) &&
         events.start[first] < events.start[second];
}

bool has_launch(Kind kind) { return is_on_device(kind) && kind != Kind::kDeviceAnnotation; }

}  // namespace

void link_parents(Trace& trace) {
  Events& events = trace.events;
  events.parent.assign(events.size(), kNoEvent);
  for (EventId event = 0; event < events.size(); ++event)
    for (EventId before = event; before-- > trace.tracks[events.track[event]].first_event;)
      if (contains(events, before, event)) {
        events.parent[event] = before;
        break;
      }
}

void lay_in_lanes(Trace& trace) {
  constexpr int kLastLane = std::numeric_limits<std::uint8_t>::max();
  const Events& events = trace.events;
  std::vector<int> lanes(events.size(), 0);
  std::set<TrackId> crowded;
  for (EventId event = 0; event < events.size(); ++event) {
    std::set<int> taken;
    for (EventId before = trace.tracks[events.track[event]].first_event; before < event; ++before)
      if (overlap_partially(events, before, event)) taken.insert(lanes[before]);
    while (taken.contains(lanes[event])) ++lanes[event];
    if (lanes[event] > kLastLane) crowded.insert(events.track[event]);
    lanes[event] = std::min(lanes[event], kLastLane);
    if (lanes[event] > 0) trace.lanes.append(event, static_cast<std::uint8_t>(lanes[event]));
  }
  for (std::size_t i = 0; i < crowded.size(); ++i) trace.anomalies.add(Anomaly::kTooManyLanes, 0);
}

namespace {

// The maker of the mark that a name is, by its spelling; empty for other names.
std::string maker_of(std::string_view name) {
  const auto has = [&](std::string_view prefix, std::string_view part) {
    return name.starts_with(prefix) && name.substr(prefix.size()).contains(part);
  };
  if (has("execute_context_", "_generation_") || has("execute_", "_context_") || has("execute_new_", "_cached_"))
    return "vLLM";
  if (has("step[", " bs=")) return "SGLang";
  if (has("prefill[bs=", "") || has("decode[bs=", "") || has("eager_decode[bs=", "")) return "ATOM";
  if (has("[pl][profile]run_training_batch", "")) return "Lightning";
  for (const char* loop : {".validation_step", ".test_step", ".predict_step"})
    if (has("[pl][profile][Strategy]", loop)) return "Lightning";
  return has("[param|", "|measure|forward]") ? "PARAM" : "";
}

std::optional<std::int64_t> number_of(std::string_view name) {
  const std::string_view prefix = "ProfilerStep#";
  if (!name.starts_with(prefix)) return std::nullopt;
  const ExactInteger number = shifted_decimal(name.substr(prefix.size()), 0);
  const bool is_digits = name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  if (!is_digits || number.outcome != ExactInteger::Outcome::kFits) return std::nullopt;
  return number.value;
}

using Marks = std::vector<EventId>;

bool share_time(const Events& events, EventId a, EventId b) {
  return events.start[a] < events.end(b) && events.start[b] < events.end(a);
}

// How much device work was launched in the marks, and how long they take.
std::pair<std::size_t, Nanoseconds> weight_of(const Trace& trace, const Marks& marks) {
  const Events& events = trace.events;
  std::pair<std::size_t, Nanoseconds> weight{};
  for (const EventId mark : marks) weight.second += events.duration[mark];
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event]) || events.cause[event] == kNoEvent) continue;
    const Nanoseconds launched = events.start[events.cause[event]];
    EventId last = kNoEvent;
    for (const EventId mark : marks)
      if (events.start[mark] <= launched) last = mark;
    if (last != kNoEvent && launched < events.end(last)) ++weight.first;
  }
  return weight;
}

// Of one maker: the outermost, of all threads where those take turns, else of the weightiest thread.
Marks marks_that_count(const Trace& trace, const std::map<TrackId, Marks>& by_thread) {
  const Events& events = trace.events;
  Marks all;
  const Marks* best = nullptr;
  for (const auto& [thread, marks] : by_thread) {
    all.insert(all.end(), marks.begin(), marks.end());
    if (best == nullptr || weight_of(trace, marks) > weight_of(trace, *best)) best = &marks;
  }
  std::ranges::stable_sort(all, {}, [&](EventId event) { return events.start[event]; });
  if (by_thread.size() == 1) return all;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (events.start[all[i]] < events.end(all[i - 1])) return *best;
  return all;
}

}  // namespace

void find_steps(Trace& trace) {
  const Events& events = trace.events;
  std::map<std::string, std::map<TrackId, Marks>> by_maker;
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kAnnotation) continue;
    const std::string maker = number_of(trace.name(event)) ? "torch" : maker_of(trace.name(event));
    if (maker.empty()) continue;
    Marks& marks = by_maker[maker][events.track[event]];
    if (!marks.empty() && share_time(events, marks.back(), event) && contains(events, marks.back(), event)) continue;
    marks.push_back(event);
  }
  Marks chosen;
  if (by_maker.contains("torch")) {
    chosen = marks_that_count(trace, by_maker["torch"]);
  } else {
    // In the order of the makers' table, which decides where all else is equal.
    for (const char* maker : {"vLLM", "SGLang", "ATOM", "Lightning", "PARAM"}) {
      if (!by_maker.contains(maker)) continue;
      Marks marks = marks_that_count(trace, by_maker[maker]);
      const auto rank = [&](const Marks& of) { return std::pair(of.size() > 1, weight_of(trace, of)); };
      if (chosen.empty() || rank(marks) > rank(chosen)) chosen = std::move(marks);
    }
  }
  for (const EventId mark : chosen) {
    const auto number = number_of(trace.name(mark));
    trace.steps.push_back({number.value_or(static_cast<std::int64_t>(trace.steps.size())), mark, events.start[mark],
                           events.duration[mark]});
  }
}

EventId innermost_at(const Trace& trace, TrackId track, Nanoseconds time) {
  const Track& place = trace.tracks[track];
  for (EventId event = place.first_event + place.event_count; event-- > place.first_event;)
    if (trace.events.start[event] <= time && time <= trace.events.end(event)) return event;
  return kNoEvent;
}

namespace {

// The device events' launches, and the operators of what no launch and no nesting explains.
class CauseLinks {
 public:
  CauseLinks(const std::vector<SlowRow>& rows, Trace& trace) : rows_(rows), trace_(trace), events_(trace.events) {
    for (EventId event = 0; event < events_.size(); ++event) {
      const auto correlation = integer_in(rows_[event].event->arguments, "correlation").value_or(0);
      const auto external_id = external_id_of(event);
      if (correlation != 0 && is_api_call(events_.kind[event])) launches_[correlation].push_back(event);
      if (external_id != 0 && events_.kind[event] == Kind::kOperator) operators_[external_id] = event;
    }
  }

  void link() {
    for (EventId event = 0; event < events_.size(); ++event) {
      const Kind kind = events_.kind[event];
      if (has_launch(kind)) {
        events_.cause[event] = launch_of(event);
        if (events_.cause[event] == kNoEvent) events_.cause[event] = operator_with_id_of(event);
      } else if (is_api_call(kind) && !is_inside_an_operator(event)) {
        events_.cause[event] = operator_with_id_of(event);
      }
    }
  }

 private:
  std::int64_t external_id_of(EventId event) const {
    const auto& arguments = rows_[event].event->arguments;
    const auto raw = find(arguments, "External id") ? "External id" : "external id";
    return integer_in(arguments, raw).value_or(0);
  }

  EventId launch_of(EventId event) {
    const auto correlation = integer_in(rows_[event].event->arguments, "correlation").value_or(0);
    const auto found = launches_.find(correlation);
    if (correlation == 0 || found == launches_.end()) return kNoEvent;
    std::vector<EventId> launches = found->second;
    std::ranges::stable_sort(launches, {}, [&](EventId launch) { return events_.start[launch]; });
    if (launches.size() > 1) note(Anomaly::kDuplicateCorrelation, event);
    EventId chosen = launches.front();
    for (const EventId launch : launches)
      if (events_.start[launch] <= events_.start[event]) chosen = launch;
    return chosen;
  }

  EventId operator_with_id_of(EventId event) const {
    const auto found = operators_.find(external_id_of(event));
    return found == operators_.end() ? kNoEvent : found->second;
  }

  bool is_inside_an_operator(EventId event) const {
    for (EventId outer = events_.parent[event]; outer != kNoEvent; outer = events_.parent[outer])
      if (events_.kind[outer] == Kind::kOperator) return true;
    return false;
  }

  void note(Anomaly anomaly, EventId event) { trace_.anomalies.add(anomaly, rows_[event].event->byte_offset); }

  const std::vector<SlowRow>& rows_;
  Trace& trace_;
  Events& events_;
  std::map<std::int64_t, std::vector<EventId>> launches_;
  std::map<std::int64_t, EventId> operators_;
};

}  // namespace

void link_launches(const std::vector<SlowRow>& rows, Trace& trace) { CauseLinks(rows, trace).link(); }

void answer_questions(SlowTrace& slow) {
  const Trace& trace = slow.trace;
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId cause = events.cause[event];
    const bool is_launched = has_launch(events.kind[event]) && cause != kNoEvent;
    slow.launch_of.push_back(is_launched && is_api_call(events.kind[cause]) ? cause : kNoEvent);

    const Nanoseconds moment = events.start[is_launched ? cause : event];
    StepId of_step = kNoStep;
    for (StepId step = 0; step < static_cast<StepId>(trace.steps.size()); ++step) {
      const Step& span = trace.steps[static_cast<std::size_t>(step)];
      if (span.start <= moment) of_step = moment < span.start + span.duration ? step : kNoStep;
    }
    slow.step_of.push_back(of_step);

    EventId of_operator = kNoEvent;
    if (is_launched && events.kind[cause] == Kind::kOperator) of_operator = cause;
    for (EventId outer = events.parent[is_launched ? cause : event]; outer != kNoEvent && of_operator == kNoEvent;
         outer = events.parent[outer])
      if (events.kind[outer] == Kind::kOperator) of_operator = outer;
    const EventId from = is_launched ? cause : event;
    if (of_operator == kNoEvent && is_api_call(events.kind[from])) of_operator = events.cause[from];
    slow.operator_of.push_back(of_operator);
  }
}

}  // namespace telltale::oracle
