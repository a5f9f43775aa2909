#include "advise/patterns/log_calls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/host_timeline.h"

namespace telltale {
namespace {

constexpr auto kWriting = std::to_array<std::string_view>({
    "<built-in function print>",
    "<built-in function fsync>",
    "<built-in method write of _io.",
    "<built-in method flush of _io.",
    "<built-in method writerow of ",
    "torch/utils/tensorboard/",
    "tensorboardX/",
    "wandb/",
    "mlflow/",
    "loguru/",
    "absl/logging/",
    "tqdm/",
});
// A logger that is off returns before it calls these.
constexpr auto kLogging = std::to_array<std::string_view>({": _log", ": handle", ": emit", ": flush"});
// A function that makes more than this share of a step's computation computes for it.
constexpr double kLargestShareOfComputation = 0.1;

bool is_writing(std::string_view name) {
  if (name.ends_with(": <module>")) return false;  // which is imported
  if (name.contains("logging/__init__.py("))
    return std::ranges::any_of(kLogging, [&](std::string_view function) { return name.ends_with(function); });
  if (is_saving_tensors(name)) return true;
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

// By event: how long the operators before it take that stand in no other.
std::vector<Nanoseconds> operators_before(const Facts& facts) {
  const Events& events = facts.trace.events;
  std::vector<Nanoseconds> before(events.size() + 1);
  EventId behind = 0;  // of the last one counted
  for (EventId event = 0; event < events.size(); ++event) {
    before[event + 1] = before[event];
    if (event < behind || facts.host_work[event] != HostWork::kOperators) continue;
    behind = subtree_end(facts.trace, event);
    before[event + 1] += events.duration[event];
  }
  return before;
}

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
        operators_before_(facts.diagnosis.breakdown.has_device ? std::vector<Nanoseconds>() : operators_before(facts)),
        largest_computation_(kLargestShareOfComputation * static_cast<double>(computation_per_step())) {}

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
      const HostWork work = facts_.host_work[event];
      if (trace_.events.kind[event] != Kind::kPython || (work != HostWork::kPython && work != HostWork::kWaiting))
        continue;
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
    return static_cast<double>(computation_in(function, end)) <= largest_computation_;
  }

  // By kernels or, where there is no device, by operators on the host. A copy computes nothing: what is saved or
  // logged is copied to the host for that.
  Nanoseconds computation_in(EventId begin, EventId end) const {
    if (!operators_before_.empty()) return operators_before_[end] - operators_before_[begin];
    Nanoseconds by_kernels = 0;
    for (const EventId work : facts_.launched.of_range(begin, end))
      if (trace_.events.kind[work] == Kind::kKernel) by_kernels += trace_.events.duration[work];
    return by_kernels;
  }

  Nanoseconds computation_per_step() const {
    const Diagnosis& diagnosis = facts_.diagnosis;
    return diagnosis.breakdown.has_device
               ? diagnosis.timing.device_period
               : diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kOperators)];
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
  std::vector<bool> is_recorder_;              // by name
  std::vector<Nanoseconds> operators_before_;  // by event; empty where a device computes
  double largest_computation_;
  std::vector<EventId> found_;
};

}  // namespace

bool is_saving_tensors(std::string_view frame) {
  const std::size_t function = frame.rfind(": ");
  return frame.contains("torch/serialization.py(") && function != std::string_view::npos &&
         frame.substr(function).contains("save");
}

std::vector<EventId> find_log_calls(const Facts& facts) { return Search(facts).run(); }

}  // namespace telltale
