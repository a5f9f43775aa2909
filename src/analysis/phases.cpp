#include "analysis/phases.h"

#include <algorithm>
#include <optional>

#include "analysis/call_stacks.h"
#include "analysis/closure_steps.h"
#include "analysis/host_timeline.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

bool is_optimizer(std::string_view name) {
  return name.starts_with("Optimizer.step") || name.starts_with("Optimizer.zero_grad") ||
         name.starts_with("aten::_fused_adam") || name.starts_with("aten::_fused_sgd");
}

// The engine's own operators, and the calls from which the thread that waits for it does not return before. Where
// stacks were sampled, calls within torch are folded into the outermost one, which is a tensor's method.
bool is_backward(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("<built-in method run_backward") ||
         name.starts_with("torch/autograd/__init__.py") ||
         (name.starts_with("torch/_tensor.py(") && name.ends_with("): backward")) || name == "backward" ||
         name == "Backward" || name == "## backward ##";
}

bool is_forward_annotation(std::string_view name) {
  return name == "forward" || name == "Forward" || name == "## forward ##";
}

// Reading a value back is no part of a model, though torch numbers these operators like those that are.
bool is_reading_back(std::string_view name) {
  return name == "aten::item" || name == "aten::_local_scalar_dense" || name == "aten::is_nonzero";
}

// Operators that do nothing but what the copy inside them does.
bool is_copy_operator(std::string_view name) {
  return name == "aten::copy_" || name == "aten::_to_copy" || name == "aten::to";
}

bool is_copy_to_device(const CopyInfo& copy) {
  return copy.to == MemorySpace::kDevice && (copy.from == MemorySpace::kPageable || copy.from == MemorySpace::kPinned);
}

// What names alone say, looked at once for each.
struct NameMarks {
  std::optional<Phase> phase;  // of any kind of event
  bool is_forward_annotation = false, is_reading_back = false, is_copy_operator = false;
};

std::vector<NameMarks> marks_by_name(const Trace& trace) {
  std::vector<NameMarks> marks(trace.strings.size());
  for (StringId id = 0; id < marks.size(); ++id) {
    const std::string_view name = trace.strings[id];
    if (is_optimizer(name))
      marks[id].phase = Phase::kOptimizer;
    else if (is_backward(name))
      marks[id].phase = Phase::kBackward;
    marks[id].is_forward_annotation = is_forward_annotation(name);
    marks[id].is_reading_back = is_reading_back(name);
    marks[id].is_copy_operator = is_copy_operator(name);
  }
  return marks;
}

class PhaseFinder {
 public:
  PhaseFinder(const Trace& trace, const std::vector<HostWork>& host_work)
      : trace_(trace),
        host_work_(host_work),
        names_(marks_by_name(trace)),
        callers_(callers(trace)),
        is_in_closure_step_(in_closure_step(trace)),
        operators_(trace.operators),
        own_(trace.events.size(), Phase::kOther),
        phases_(trace.events.size(), Phase::kOther) {}

  std::vector<Phase> find() {
    bool has_backward = false;
    for (EventId event = 0; event < own_.size(); ++event) {
      if (is_on_device(trace_.events.kind[event])) continue;
      own_[event] = own_phase(event);
      has_backward = has_backward || own_[event] == Phase::kBackward;
    }
    mark_copies();
    for (EventId event = 0; event < own_.size(); ++event)
      if (!is_on_device(trace_.events.kind[event])) phases_[event] = inherited(event, has_backward);
    follow_causes();
    return std::move(phases_);
  }

 private:
  // What an event says by itself.
  Phase own_phase(EventId event) {
    const Kind kind = trace_.events.kind[event];
    const NameMarks& name = names_[trace_.events.name[event]];
    if (host_work_[event] == HostWork::kDataLoading) return Phase::kData;
    if (name.phase) return *name.phase;
    if (kind == Kind::kModule) return Phase::kForward;
    if (kind == Kind::kAnnotation && name.is_forward_annotation) return Phase::kForward;
    return kind == Kind::kOperator ? phase_of_operator(event, name) : Phase::kOther;
  }

  Phase phase_of_operator(EventId event, const NameMarks& name) {
    if (trace_.events.cause[event] != kNoEvent) return Phase::kBackward;
    const OperatorInfo* const info = operators_.find(event);
    if (info == nullptr || info->sequence == OperatorInfo::kNoSequence || name.is_reading_back) return Phase::kOther;
    return info->forward_thread > 0 ? Phase::kBackward : Phase::kForward;
  }

  // The call that enqueues a copy to the device, and the operators around it that are there for it.
  void mark_copies() {
    for (std::size_t row = 0; row < trace_.copies.size(); ++row) {
      if (!is_copy_to_device(trace_.copies.row(row))) continue;
      EventId at = trace_.events.cause[trace_.copies.event(row)];
      if (at == kNoEvent || is_on_device(trace_.events.kind[at])) continue;
      do {
        own_[at] = Phase::kCopy;
        at = callers_.of[at];
      } while (at != kNoEvent && names_[trace_.events.name[at]].is_copy_operator);
    }
  }

  // Callers come before what they call. A call that was left open spans what others do, so it stands for what
  // contains all of it.
  Phase inherited(EventId event, bool has_backward) const {
    const EventId caller = callers_.is_left_open[event] ? trace_.events.parent[event] : callers_.of[event];
    const Phase around = caller == kNoEvent ? phase_of_thread(event) : phases_[caller];
    const bool is_open = around == Phase::kForward || around == Phase::kOther ||
                         (around == Phase::kOptimizer && is_in_closure_step_[event]);
    if (is_open && own_[event] != Phase::kOther) return own_[event];
    const bool is_all_forward = !has_backward && trace_.events.kind[event] == Kind::kOperator;
    return around == Phase::kOther && is_all_forward ? Phase::kForward : around;
  }

  Phase phase_of_thread(EventId event) const {
    const StringId name = trace_.tracks[trace_.events.track[event]].name;
    return trace_.strings[name].contains("pt_autograd") ? Phase::kBackward : Phase::kOther;
  }

  // Device work follows what it comes from, a call outside of operators the operator that made it.
  void follow_causes() {
    const Events& events = trace_.events;
    for (EventId event = 0; event < events.size(); ++event)
      if (is_api_call(events.kind[event]) && phases_[event] == Phase::kOther && events.cause[event] != kNoEvent)
        phases_[event] = phases_[events.cause[event]];
    for (EventId event = 0; event < events.size(); ++event)
      if (const EventId origin = is_on_device(events.kind[event]) ? trace_.origin_of(event) : kNoEvent;
          origin != kNoEvent)
        phases_[event] = phases_[origin];
    for (std::size_t row = 0; row < trace_.copies.size(); ++row)
      if (is_copy_to_device(trace_.copies.row(row))) phases_[trace_.copies.event(row)] = Phase::kCopy;
  }

  const Trace& trace_;
  const std::vector<HostWork>& host_work_;
  std::vector<NameMarks> names_;
  Callers callers_;
  std::vector<bool> is_in_closure_step_;
  SideTableWalk<OperatorInfo> operators_;
  std::vector<Phase> own_, phases_;
};

// The thread of the steps' marks comes first; it is the one that waits for others.
std::vector<TrackId> threads_of_steps(const Trace& trace, Interval window) {
  std::vector<TrackId> threads = launching_threads(trace, window);
  if (trace.steps.empty()) return threads;
  const TrackId caller = trace.events.track[trace.steps.front().event];
  std::erase(threads, caller);
  threads.insert(threads.begin(), caller);
  return threads;
}

using PhaseSums = std::array<Nanoseconds, kPhaseCount>;

// Of every moment of the window: the phase of the first thread that is in one.
PhaseSums host_sums(const Trace& trace, Interval window, const std::vector<Phase>& phases) {
  PhaseSums sums{};
  std::vector<Interval> open = {window};
  for (const TrackId thread : threads_of_steps(trace, window)) {
    std::vector<Interval> still_open;
    auto gap = open.begin();
    for (const HostSegment& segment : host_segments(trace, thread, window)) {
      const Phase phase = segment.event == kNoEvent ? Phase::kOther : phases[segment.event];
      for (; gap != open.end() && gap->begin < segment.when.end; ++gap) {
        const Interval common = {std::max(gap->begin, segment.when.begin), std::min(gap->end, segment.when.end)};
        if (common.length() > 0 && phase == Phase::kOther)
          still_open.push_back(common);
        else if (common.length() > 0)
          sums[static_cast<std::size_t>(phase)] += common.length();
        if (gap->end > segment.when.end) break;  // the next segment goes on with it
      }
    }
    open = united(std::move(still_open));
  }
  sums[static_cast<std::size_t>(Phase::kOther)] = total_length(open);
  return sums;
}

PhaseSums device_sums(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  PhaseSums sums{};
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId launch = trace.events.cause[event];
    if (!is_device_work(trace.events.kind[event]) || launch == kNoEvent) continue;
    if (step_at(timing, trace.events.start[launch]) < 0) continue;
    sums[static_cast<std::size_t>(phases[event])] += trace.events.duration[event];
  }
  return sums;
}

}  // namespace

std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, kPhaseCount> kNames = {"data",     "copy",      "forward",
                                                                "backward", "optimizer", "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::vector<Phase> phase_by_event(const Trace& trace, const std::vector<HostWork>& host_work) {
  return PhaseFinder(trace, host_work).find();
}

std::vector<PhaseTime> phase_times(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  const Interval window = {timing.steps.front().host.begin, timing.steps.back().host.end};
  const PhaseSums host = host_sums(trace, window, phases), device = device_sums(trace, timing, phases);
  const auto steps = static_cast<Nanoseconds>(timing.steps.size());
  std::vector<PhaseTime> times;
  for (std::size_t i = 0; i < kPhaseCount; ++i)
    times.push_back({static_cast<Phase>(i), host[i] / steps, device[i] / steps});
  return times;
}

}  // namespace telltale
