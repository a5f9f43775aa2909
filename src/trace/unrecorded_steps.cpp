#include "trace/unrecorded_steps.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "trace/gauges.h"
#include "trace/slice.h"

namespace telltale {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Unrecorded>, kUnrecordedCount> kWords = {{
    {"before", Unrecorded::kBefore},
    {"paused", Unrecorded::kPaused},
    {"after", Unrecorded::kAfter},
}};

constexpr const char* kHostAlone = "host_alone";
constexpr const char* kByHost = "by_host_ns";

// Whatever a file says, sums of steps and times stay numbers: no step takes hours, and no trace is of the year 2100.
constexpr Nanoseconds kLongestStep = 3'600'000'000'000;
constexpr Nanoseconds kLastTime = 4'102'444'800'000'000'000;

// Where another format has carried a value along, it may have become a text.
json value_named(const Trace& trace, std::string_view name) {
  const std::string* const text = trace.metadata_named(name);
  if (text == nullptr) return {};
  const json value = json::parse(*text, nullptr, false);
  return value.is_string() ? json::parse(value.get<std::string>(), nullptr, false) : value;
}

std::optional<Nanoseconds> time_in(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto time = value.get<Nanoseconds>();
  return time > 0 ? std::optional(time) : std::nullopt;
}

std::optional<std::vector<Nanoseconds>> times_in(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<Nanoseconds> times;
  for (const json& each : value) {
    const auto time = time_in(each);
    if (!time || *time > kLongestStep) return std::nullopt;
    times.push_back(*time);
  }
  return times;
}

// What consecutive steps took, and the number of the first.
std::optional<UnrecordedStretch> steps_in(const json& value) {
  if (!value.is_object()) return std::nullopt;
  auto took = times_in(value.value("took_ns", json()));
  if (!took) return std::nullopt;
  const Nanoseconds first = time_in(value.value("first", json())).value_or(0);
  return UnrecordedStretch{Unrecorded::kBefore, first, *std::move(took), false, {}};
}

std::optional<UnrecordedStretch> stretch_in(const json& value) {
  auto stretch = steps_in(value);
  if (!stretch) return std::nullopt;
  const json when = value.value("when", json());
  if (!when.is_string()) return std::nullopt;
  const auto word = std::ranges::find(kWords, when.get_ref<const std::string&>(), &decltype(kWords)::value_type::first);
  if (word == kWords.end()) return std::nullopt;
  stretch->when = word->second;
  stretch->is_of_host_alone = value.value(kHostAlone, json()) == true;
  if (auto by_host = times_in(value.value(kByHost, json())); by_host && by_host->size() == stretch->took.size())
    stretch->by_host = *std::move(by_host);
  return stretch;
}

void add_told(const Trace& trace, std::vector<UnrecordedStretch>& stretches) {
  const json told = value_named(trace, kUnrecordedSteps);
  if (!told.is_array()) return;
  for (const json& each : told)
    if (auto stretch = stretch_in(each)) stretches.push_back(*std::move(stretch));
}

// Steps that were timed by the wall clock, before and after the trace.
void add_timed(const Trace& trace, std::vector<UnrecordedStretch>& stretches) {
  const json told = value_named(trace, kTimedSteps);
  const auto timed = steps_in(told);
  const auto began = timed ? time_in(told.value("began_ns", json())) : std::nullopt;
  if (!began || *began > kLastTime || trace.origin_epoch_ns == 0) return;
  UnrecordedStretch before, after;
  before.first = after.first = timed->first;
  after.when = Unrecorded::kAfter;
  Nanoseconds start = *began - trace.origin_epoch_ns;
  for (const Nanoseconds took : timed->took) {
    if (start + took <= 0)
      before.took.push_back(took);
    else if (start >= trace.duration)
      after.took.push_back(took);
    if (after.took.empty()) ++after.first;
    start += took;
  }
  const auto warmup = static_cast<std::size_t>(time_in(told.value("warmup", json())).value_or(0));
  before.took.resize(before.took.size() - std::min(before.took.size(), warmup));
  for (UnrecordedStretch* const stretch : {&before, &after})
    if (!stretch->took.empty()) stretches.push_back(std::move(*stretch));
}

// Annotations of a name, by start.
std::vector<Interval> annotations_named(const Trace& trace, std::string_view wanted) {
  std::vector<Interval> found;
  StringId name = 0;
  while (name < trace.strings.size() && trace.strings[name] != wanted) ++name;
  if (name == trace.strings.size()) return found;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.name[event] == name && trace.events.kind[event] == Kind::kAnnotation &&
        trace.events.duration[event] > 0)
      found.push_back({trace.events.start[event], trace.events.end(event)});
  std::ranges::sort(found, {}, &Interval::begin);
  return found;
}

// Ascending.
std::vector<Nanoseconds> ends_of_device_work(const Trace& trace) {
  std::vector<Nanoseconds> ends;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_device_work(trace.events.kind[event])) ends.push_back(trace.events.end(event));
  std::ranges::sort(ends);
  return ends;
}

// A pause, and the steps in it.
struct Pause {
  Interval span;
  std::vector<Nanoseconds> took, by_host;
  bool is_of_host_alone = false;
};

// A device that is behind its host has steps of a pause to do when that is over. All of them together took that time:
// each a part of it, or, where the host was ahead by more than a bit, so that its own times say nothing of single
// steps, each as long as the others.
void share_wait(Nanoseconds wait, std::vector<Nanoseconds>& took) {
  const auto count = static_cast<Nanoseconds>(took.size());
  const Nanoseconds mean = (std::accumulate(took.begin(), took.end(), Nanoseconds{0}) + wait) / count;
  for (Nanoseconds& each : took) each = wait > mean / 2 ? mean : each + wait / count;
}

void add_waits(const Trace& trace, std::vector<Pause>& pauses) {
  const std::vector<Interval> waits = annotations_named(trace, kUnrecordedWait);
  auto next = waits.begin();
  for (Pause& pause : pauses) {
    next = std::find_if(next, waits.end(), [&](const Interval& wait) { return wait.begin >= pause.span.begin; });
    std::optional<Nanoseconds> wait;
    if (next != waits.end() && next->begin <= pause.span.end)
      wait = next->length();
    else if (&pause == &pauses.back())
      wait = time_in(value_named(trace, kLastUnrecordedWait));
    pause.is_of_host_alone = !wait;
    if (wait) pause.by_host = pause.took;
    share_wait(wait.value_or(0), pause.took);
  }
}

std::vector<Pause> pauses_of(const Trace& trace) {
  std::vector<Pause> found;
  const std::vector<Interval> steps = annotations_named(trace, kUnrecordedStep);
  if (steps.empty()) return found;
  const std::vector<Nanoseconds> device_ends = ends_of_device_work(trace);
  // Of the device work that was over when the pause's first step began: the recorder waited for it.
  const auto last_device_end = [&](Nanoseconds begin) {
    const auto behind = std::ranges::upper_bound(device_ends, begin);
    return behind == device_ends.begin() ? INT64_MIN : *(behind - 1);
  };
  auto next = trace.steps.begin();  // the first recorded step that is not over when the paused one begins
  bool is_new = true;
  for (const Interval& step : steps) {
    while (next != trace.steps.end() && next->start + next->duration <= step.begin) {
      ++next;
      is_new = true;
    }
    if (is_new) {
      const auto last = next == trace.steps.begin() ? next : next - 1;
      const Nanoseconds end = last == next ? step.begin : last->start + last->duration;
      found.push_back({{std::max(end, last_device_end(step.begin)), 0}, {}, {}});
      is_new = false;
    }
    found.back().took.push_back(step.length());
    found.back().span.end = next == trace.steps.end() ? step.end : std::max(step.end, next->start);
  }
  if (!device_ends.empty()) add_waits(trace, found);
  return found;
}

// What becomes of a time when the pauses before it take none; times within one fall on its beginning.
class ShorterTime {
 public:
  explicit ShorterTime(const std::vector<Pause>& pauses) {
    Nanoseconds left_out = 0;
    for (const Pause& pause : pauses) {
      cuts_.push_back({pause.span, left_out});
      left_out += pause.span.length();
    }
  }

  Nanoseconds operator()(Nanoseconds time) const {
    const auto behind = std::ranges::upper_bound(cuts_, time, {}, [](const Cut& cut) { return cut.span.begin; });
    if (behind == cuts_.begin()) return time;
    const Cut& cut = *(behind - 1);
    return std::max(cut.span.begin, time - cut.span.length()) - cut.left_out_before;
  }

  void shorten(Nanoseconds& start, Nanoseconds& duration) const {
    const Nanoseconds end = (*this)(start + duration);
    start = (*this)(start);
    duration = end - start;
  }

 private:
  struct Cut {
    Interval span;
    Nanoseconds left_out_before;
  };
  std::vector<Cut> cuts_;
};

// Energy that was used in pauses, which the counter counted all the same.
void leave_out_energy(const std::vector<Pause>& pauses, Trace& trace) {
  const Counters counted = trace.counters;
  for (const CounterSeries& series : counted.series) {
    const std::optional<Gauge> gauge = gauge_called(trace.strings[series.name]);
    if (series.count == 0 || !gauge || gauge->quantity != gauges::kEnergy) continue;
    const auto used_until = [&](const Pause& pause, Nanoseconds time) {
      return steady_value_at(counted, series, std::min(time, pause.span.end)) -
             steady_value_at(counted, series, pause.span.begin);
    };
    auto next = pauses.begin();
    double left_out = 0;  // of all pauses before the next
    for (std::uint32_t i = series.first; i < series.first + series.count; ++i) {
      const Nanoseconds time = counted.time[i];
      for (; next != pauses.end() && next->span.end <= time; ++next) left_out += used_until(*next, next->span.end);
      const bool is_in_pause = next != pauses.end() && next->span.begin < time;
      trace.counters.value[i] -= left_out + (is_in_pause ? used_until(*next, time) : 0);
    }
  }
}

void tell_of(const std::vector<Pause>& pauses, Trace& trace) {
  json told = value_named(trace, kUnrecordedSteps);
  if (!told.is_array()) told = json::array();
  for (const Pause& pause : pauses) {
    told.push_back({{"when", "paused"}, {"took_ns", pause.took}});
    if (pause.is_of_host_alone) told.back()[kHostAlone] = true;
    if (!pause.by_host.empty()) told.back()[kByHost] = pause.by_host;
  }
  std::erase_if(trace.metadata, [](const MetadataValue& value) { return value.first == kUnrecordedSteps; });
  trace.metadata.emplace_back(kUnrecordedSteps, told.dump());
}

}  // namespace

std::vector<UnrecordedStretch> unrecorded_steps(const Trace& trace) {
  std::vector<UnrecordedStretch> stretches;
  add_told(trace, stretches);
  add_timed(trace, stretches);
  for (Pause& pause : pauses_of(trace))
    stretches.push_back(
        {Unrecorded::kPaused, 0, std::move(pause.took), pause.is_of_host_alone, std::move(pause.by_host)});
  return stretches;
}

std::vector<Interval> pauses(const Trace& trace) {
  std::vector<Interval> spans;
  for (const Pause& pause : pauses_of(trace)) spans.push_back(pause.span);
  return spans;
}

Trace without_pauses(const Trace& trace) {
  const std::vector<Pause> pauses = pauses_of(trace);
  const Interval all{0, std::max(trace.duration, trace.memory.time.empty() ? 0 : trace.memory.time.back()) + 1};
  Trace shorter = slice(trace, {std::vector<bool>(trace.events.size(), true), {all}});
  leave_out_energy(pauses, shorter);
  const ShorterTime time(pauses);
  for (EventId event = 0; event < shorter.events.size(); ++event)
    time.shorten(shorter.events.start[event], shorter.events.duration[event]);
  for (Step& step : shorter.steps) time.shorten(step.start, step.duration);
  for (std::vector<Nanoseconds>* const times : {&shorter.memory.time, &shorter.counters.time})
    for (Nanoseconds& each : *times) each = time(each);
  shorter.duration = time(trace.duration);
  tell_of(pauses, shorter);
  return shorter;
}

}  // namespace telltale
