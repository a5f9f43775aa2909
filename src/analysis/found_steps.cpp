#include "analysis/found_steps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/first_step.h"
#include "analysis/repetition.h"
#include "analysis/requests.h"
#include "analysis/robust_statistics.h"
#include "trace/own_recordings.h"
#include "trace/step_marks.h"

namespace telltale {
namespace {

constexpr std::string_view kOptimizerStep = "Optimizer.step";

// Of a usual mark: time after a mark that exceeds the usual by more is a pause between steps.
constexpr double kPause = 0.5;

std::vector<FoundStep> steps_of_marks(const Trace& trace) {
  const std::vector<Step>& marks = trace.steps;
  std::vector<Nanoseconds> lengths, gaps;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    lengths.push_back(marks[i].duration);
    if (i > 0) gaps.push_back(marks[i].start - (marks[i - 1].start + marks[i - 1].duration));
  }
  const auto longest = static_cast<double>(median(gaps)) + kPause * static_cast<double>(median(lengths));
  std::vector<FoundStep> steps;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Nanoseconds end = marks[i].start + marks[i].duration;
    const bool goes_on = i < gaps.size() && static_cast<double>(gaps[i]) <= longest;
    steps.push_back({marks[i].index, {marks[i].start, goes_on ? marks[i + 1].start : end}});
  }
  return steps;
}

// When the steps of the optimizer end. A program with several optimizers takes a step of each in turn: one of them is
// enough to tell its steps apart.
std::vector<Nanoseconds> ends_of_optimizer(const Trace& trace) {
  std::map<StringId, std::vector<Nanoseconds>> ends_by_name;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kAnnotation && trace.name(event).starts_with(kOptimizerStep))
      ends_by_name[trace.events.name[event]].push_back(trace.events.end(event));
  std::vector<Nanoseconds> chosen;
  for (auto& [name, ends] : ends_by_name) {
    std::sort(ends.begin(), ends.end());
    if (chosen.empty() || std::pair(ends.size(), ends.back()) > std::pair(chosen.size(), chosen.back())) chosen = ends;
  }
  return chosen;
}

std::vector<Interval> spans_between(const std::vector<Nanoseconds>& times) {
  std::vector<Interval> spans;
  for (std::size_t i = 1; i < times.size(); ++i) spans.push_back({times[i - 1], times[i]});
  return spans;
}

std::vector<FoundStep> numbered(const std::vector<Interval>& spans) {
  std::vector<FoundStep> steps;
  for (const Interval span : spans) steps.push_back({static_cast<std::int64_t>(steps.size()), span});
  return steps;
}

// Lightning marks batches, of which an optimizer step may take several.
bool are_parts_of_steps(const Trace& trace, std::size_t optimizer_steps) {
  return optimizer_steps > 0 && optimizer_steps * 3 <= trace.steps.size() * 2 &&
         maker_of_mark(trace.name(trace.steps.front().event)) == MarkMaker::kLightning;
}

}  // namespace

std::string_view name_of(StepSource source) {
  switch (source) {
    case StepSource::kMarks:
      return "marks";
    case StepSource::kOptimizer:
      return "optimizer";
    case StepSource::kPattern:
      return "pattern";
    case StepSource::kParts:
      return "parts";
    case StepSource::kWhole:
      break;
  }
  return "whole_trace";
}

FoundSteps found_steps(const Trace& trace) {
  const std::vector<Nanoseconds> ends = ends_of_optimizer(trace);
  const bool is_from_start = trace.metadata_named(kFromStart) != nullptr;
  if (!trace.steps.empty() && !are_parts_of_steps(trace, ends.size())) {
    std::vector<FoundStep> steps = steps_of_marks(trace);
    if (is_from_start && steps.front().index == 0) settle_first_step(trace, steps);
    return {StepSource::kMarks, std::move(steps)};
  }
  if (ends.size() > 1) return {StepSource::kOptimizer, numbered(spans_between(ends))};
  if (ends.empty()) {
    if (const auto passes = served_passes(trace, SilentTime::kIsWork); !passes.empty())
      return {StepSource::kPattern, numbered(passes)};
    if (const auto passes = repeated_passes(trace); !passes.empty()) return {StepSource::kPattern, numbered(passes)};
    if (const auto passes = served_passes(trace, SilentTime::kIsWaiting); !passes.empty())
      return {StepSource::kPattern, numbered(passes)};
    if (const auto parts = parts_of_cold_pass(trace); !parts.empty()) return {StepSource::kParts, numbered(parts)};
  }
  return {StepSource::kWhole, {{0, {is_from_start ? start_of_work(trace) : 0, trace.duration}}}};
}

}  // namespace telltale
