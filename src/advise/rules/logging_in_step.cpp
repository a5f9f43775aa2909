// The step reports on itself, and the device waits until it has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "advise/facts.h"
#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "analysis/host_timeline.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr auto kWriting = std::to_array<std::string_view>({
    "<built-in function print>",
    "<built-in function fsync>",
    "<built-in method write of _io.",
    "<built-in method flush of _io.",
    "<built-in method writerow of ",
    "torch/utils/tensorboard/",
    "torch/serialization.py(",
    "tensorboardX/",
    "wandb/",
    "mlflow/",
    "loguru/",
    "absl/logging/",
    "tqdm/",
});
// A logger that is off returns before it calls these.
constexpr auto kLogging = std::to_array<std::string_view>({": _log", ": handle", ": emit", ": flush"});
// A function that launches more than this share of a step's device work computes with it.
constexpr double kLargestShareOfDevice = 0.1;
// Of a function's time that goes into writing and into reading values back for it: half of it in log_every_step, whose
// function computes the values as well. One that only happens to write a line has far less.
constexpr double kLeastShareOfWriting = 0.25;

bool is_writing(std::string_view name) {
  if (name.contains("logging/__init__.py("))
    return std::ranges::any_of(kLogging, [&](std::string_view function) { return name.ends_with(function); });
  return std::ranges::any_of(kWriting, [&](std::string_view part) { return name.contains(part); });
}

bool is_reading_back(std::string_view name) { return name == "aten::item" || name == "aten::_local_scalar_dense"; }

// By event: how many of the events before it belong to training.
std::vector<std::uint32_t> training_events_before(const Facts& facts) {
  const Events& events = facts.trace.events;
  std::vector<std::uint32_t> before(events.size() + 1);
  for (EventId event = 0; event < events.size(); ++event) {
    const Phase phase = facts.phases[event];
    const bool trains = events.kind[event] == Kind::kModule || phase == Phase::kBackward ||
                        phase == Phase::kOptimizer || phase == Phase::kData;
    before[event + 1] = before[event] + (trains ? 1 : 0);
  }
  return before;
}

// By event: how long the events before it write, or read values back from the device; of those that contain each other,
// the outermost.
std::vector<Nanoseconds> writing_before(const Facts& facts, const std::vector<bool>& is_writing) {
  const Events& events = facts.trace.events;
  const std::vector<bool> reads_back = names_where(facts.trace, is_reading_back);
  std::vector<Nanoseconds> before(events.size() + 1);
  EventId behind = 0;  // of the last one counted
  for (EventId event = 0; event < events.size(); ++event) {
    before[event + 1] = before[event];
    if (event < behind || is_on_device(events.kind[event])) continue;
    const StringId name = events.name[event];
    const bool writes = events.kind[event] == Kind::kPython && is_writing[name];
    const HostWork work = facts.host_work[event];
    if (!writes && !reads_back[name] && work != HostWork::kSync && work != HostWork::kCopies) continue;
    behind = subtree_end(facts.trace, event);
    before[event + 1] += events.duration[event];
  }
  return before;
}

// Finds functions that a step calls only to tell somebody something: they print, write, log or save, and compute
// nothing that training needs. In the steps, on the threads that feed the device, by event. From the call that writes
// outwards, the outermost Python function that neither calls a module, nor trains, nor launches more than a little of
// the device's work, and that spends much of its time writing. Needs stacks.
class Search {
 public:
  explicit Search(const Facts& facts)
      : facts_(facts),
        trace_(facts.trace),
        training_before_(training_events_before(facts)),
        is_writing_(names_where(facts.trace, is_writing)),
        writing_before_(writing_before(facts, is_writing_)),
        is_recorder_(names_where(
            facts.trace, [](std::string_view name) { return name.find("torch/profiler/") != std::string_view::npos; })),
        largest_device_time_(kLargestShareOfDevice * static_cast<double>(facts.diagnosis.timing.device_period)) {}

  std::vector<EventId> run() {
    const std::vector<StepSpan>& steps = facts_.diagnosis.timing.steps;
    for (const TrackId thread : launching_threads(trace_, {steps.front().host.begin, steps.back().host.end}))
      search(trace_.tracks[thread]);
    return std::move(found_);
  }

 private:
  void search(const Track& track) {
    EventId behind = 0;  // of the last function found
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (event < behind || !is_writing_[trace_.events.name[event]]) continue;
      if (trace_.events.kind[event] != Kind::kPython || facts_.host_work[event] != HostWork::kPython) continue;
      if (!facts_.is_in_steps(event) || !is_beside_training(event)) continue;
      const EventId function = outermost_function(event);
      behind = subtree_end(trace_, function);
      if (!is_recorder_[trace_.events.name[function]]) found_.push_back(function);
    }
  }

  EventId outermost_function(EventId event) const {
    EventId outermost = event;
    for (EventId at = trace_.events.parent[event]; at != kNoEvent; at = trace_.events.parent[at]) {
      if (trace_.events.kind[at] != Kind::kPython || !is_beside_training(at) || !is_about_writing(at)) break;
      outermost = at;
    }
    return outermost;
  }

  bool is_beside_training(EventId function) const {
    const EventId end = subtree_end(trace_, function);
    if (training_before_[end] != training_before_[function]) return false;
    Nanoseconds on_device = 0;
    for (const EventId work : facts_.launched.of_range(function, end)) on_device += trace_.events.duration[work];
    return static_cast<double>(on_device) <= largest_device_time_;
  }

  bool is_about_writing(EventId function) const {
    const Nanoseconds writing = writing_before_[subtree_end(trace_, function)] - writing_before_[function];
    return static_cast<double>(writing) >= kLeastShareOfWriting * static_cast<double>(trace_.events.duration[function]);
  }

  const Facts& facts_;
  const Trace& trace_;
  std::vector<std::uint32_t> training_before_;
  std::vector<bool> is_writing_;  // by name
  std::vector<Nanoseconds> writing_before_;
  std::vector<bool> is_recorder_;  // by name
  double largest_device_time_;
  std::vector<EventId> found_;
};

// From a function inwards: the last one of the user's own in which most of its time is spent.
EventId function_that_takes_the_time(const Trace& trace, EventId function) {
  const EventId end = subtree_end(trace, function);
  EventId taking = function;
  for (EventId event = function + 1; event < end; ++event) {
    if (trace.events.kind[event] != Kind::kPython ||
        2 * trace.events.duration[event] <= trace.events.duration[function])
      continue;
    const std::optional<SourceLine> frame = parsed_frame(trace.name(event));
    if (frame && !is_library_frame(*frame)) taking = event;
  }
  return taking;
}

// Of what logging in each step costs, logging in every twentieth one saves all but a twentieth.
constexpr int kStepsBetweenLogs = 20;
constexpr double kSavedByLoggingLess = 1 - 1.0 / kStepsBetweenLogs;
constexpr double kUncertainty = 0.3;

std::vector<Finding> find(const Facts& facts) {
  std::vector<EventId> calls = Search(facts).run();
  if (calls.empty()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const auto likely = static_cast<Nanoseconds>(kSavedByLoggingLess * static_cast<double>(facts.saved_by(edit)));
  if (likely <= 0) return {};

  std::ranges::stable_sort(calls, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  Finding finding;
  finding.title = "The GPU waits while the step writes its logs";
  finding.explanation = fmt::format(
      "Printing, writing and saving, along with reading the values from the GPU, takes {} per recorded step.",
      format_time(time_in(facts, calls)));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = Confidence::kMedium;
  finding.evidence = calls;
  finding.source = source_line(facts.trace, function_that_takes_the_time(facts.trace, calls.front()));
  finding.fix = {"log_less",
                 fmt::format("Log only every {}th step or so, or collect the values on the GPU and write them later.",
                             kStepsBetweenLogs),
                 fmt::format("- log({0}.item())\n+ if step % {1} == 0:\n+     log({0}.item())",
                             facts.trains ? "loss" : "score", kStepsBetweenLogs)};
  return {finding};
}

}  // namespace

Rule rules::logging_in_step() {
  return {{.title = "Logging in the step",
           .looks_for = fmt::format(
               "Python functions that print, write to files, log or save, that spend {:.0f} % of their time "
               "or more on it and on reading values from the GPU, and that neither call modules nor train.",
               100 * kLeastShareOfWriting),
           .needs = "Stacks.",
           .cannot_do_without = {{Need::kStacks}},
           .saving = fmt::format("The steps are replayed without these functions and their waits for the GPU; every "
                                 "{}th step would still log.",
                                 kStepsBetweenLogs),
           .held = "Predicted and measured savings, in percent of the step: 20 and 20 (log_every_step).",
           .fixes = {"log_less"}},
          find};
}

}  // namespace telltale
