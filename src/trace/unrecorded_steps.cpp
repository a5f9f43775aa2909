#include "trace/unrecorded_steps.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "trace/slice.h"

namespace telltale {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Unrecorded>, kUnrecordedCount> kWords = {{
    {"before", Unrecorded::kBefore},
    {"paused", Unrecorded::kPaused},
    {"after", Unrecorded::kAfter},
}};

// Whatever a file says, sums of steps and times stay numbers: no step takes hours, and no trace is of the year 2100.
constexpr Nanoseconds kLongestStep = 3'600'000'000'000;
constexpr Nanoseconds kLastTime = 4'102'444'800'000'000'000;

json value_named(const Trace& trace, std::string_view name) {
  const std::string* const text = trace.metadata_named(name);
  return text == nullptr ? json() : json::parse(*text, nullptr, false);
}

std::optional<Nanoseconds> time_in(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto time = value.get<Nanoseconds>();
  return time > 0 ? std::optional(time) : std::nullopt;
}

// What consecutive steps took, and the number of the first.
std::optional<UnrecordedStretch> steps_in(const json& value) {
  if (!value.is_object() || !value.value("took_ns", json()).is_array()) return std::nullopt;
  UnrecordedStretch stretch{Unrecorded::kBefore, time_in(value.value("first", json())).value_or(0), {}};
  for (const json& each : value["took_ns"]) {
    const auto time = time_in(each);
    if (!time || *time > kLongestStep) return std::nullopt;
    stretch.took.push_back(*time);
  }
  return stretch;
}

std::optional<UnrecordedStretch> stretch_in(const json& value) {
  auto stretch = steps_in(value);
  if (!stretch) return std::nullopt;
  const auto word = std::ranges::find(kWords, value.value("when", json()), &decltype(kWords)::value_type::first);
  if (word == kWords.end()) return std::nullopt;
  stretch->when = word->second;
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
  UnrecordedStretch before{Unrecorded::kBefore, timed->first, {}}, after{Unrecorded::kAfter, timed->first, {}};
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

// By start.
std::vector<Interval> paused_steps(const Trace& trace) {
  std::vector<Interval> found;
  StringId name = 0;
  while (name < trace.strings.size() && trace.strings[name] != kUnrecordedStep) ++name;
  if (name == trace.strings.size()) return found;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.name[event] == name && trace.events.kind[event] == Kind::kAnnotation &&
        trace.events.duration[event] > 0)
      found.push_back({trace.events.start[event], trace.events.end(event)});
  std::ranges::sort(found, {}, &Interval::begin);
  return found;
}

// A pause, and the steps in it.
struct Pause {
  Interval span;
  std::vector<Nanoseconds> took;
};

std::vector<Pause> pauses_of(const Trace& trace) {
  std::vector<Pause> found;
  auto next = trace.steps.begin();  // the first recorded step that is not over when the paused one begins
  bool is_new = true;
  for (const Interval& step : paused_steps(trace)) {
    while (next != trace.steps.end() && next->start + next->duration <= step.begin) {
      ++next;
      is_new = true;
    }
    if (is_new) {
      const auto last = next == trace.steps.begin() ? next : next - 1;
      found.push_back({{last == next ? step.begin : last->start + last->duration, 0}, {}});
      is_new = false;
    }
    found.back().took.push_back(step.length());
    found.back().span.end = next == trace.steps.end() ? step.end : std::max(step.end, next->start);
  }
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

void tell_of(const std::vector<Pause>& pauses, Trace& trace) {
  json told = value_named(trace, kUnrecordedSteps);
  if (!told.is_array()) told = json::array();
  for (const Pause& pause : pauses) told.push_back({{"when", "paused"}, {"took_ns", pause.took}});
  std::erase_if(trace.metadata, [](const MetadataValue& value) { return value.first == kUnrecordedSteps; });
  trace.metadata.emplace_back(kUnrecordedSteps, told.dump());
}

}  // namespace

std::vector<UnrecordedStretch> unrecorded_steps(const Trace& trace) {
  std::vector<UnrecordedStretch> stretches;
  add_told(trace, stretches);
  add_timed(trace, stretches);
  for (Pause& pause : pauses_of(trace)) stretches.push_back({Unrecorded::kPaused, 0, std::move(pause.took)});
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
