#include "replay/what_if.h"

#include <algorithm>
#include <utility>

#include "analysis/host_work.h"
#include "analysis/measured_step.h"
#include "replay/edit.h"
#include "replay/observer_fit.h"

namespace telltale {
namespace {

// What works for this share of a step works all the time: launches and hand-overs leave some gaps.
constexpr double kShareOfBottleneck = 0.95;

// Makes changes to an edit, and counts what they are about.
class Editor {
 public:
  Editor(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work, const StepGraph& graph)
      : trace_(trace), timing_(timing), host_work_(host_work), graph_(graph), launched_(trace) {}

  // Events that the pattern names twice, as a call and within another, count and change once.
  Reach change(const PatternChange& change, Edit& edit) const {
    Reach reach;
    std::vector<bool> is_changed(trace_.events.size());
    for (const EventId event : events_matching(trace_, timing_, change.pattern)) {
      if (is_on_device(trace_.events.kind[event])) {
        is_changed[event] = true;
        continue;
      }
      ++reach.calls;
      if (!is_changed[event]) mark_subtree(event, is_changed);
    }
    for (EventId event = 0; event < is_changed.size(); ++event) {
      if (!is_changed[event]) continue;
      if (is_device_work(trace_.events.kind[event])) ++reach.device_work;
      edit.scale_event(trace_, event, static_cast<float>(change.factor));
    }
    return reach;
  }

  Reach drop_waits(Edit& edit) const {
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (is_api_call(trace_.events.kind[event])) edit.drop_wait(trace_, event);
    return {static_cast<std::int64_t>(graph_.wait_count()), 0};
  }

  Reach load_instantly(Edit& edit) const {
    Reach reach;
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      if (host_work_[event] != HostWork::kDataLoading) continue;
      edit.scale_event(trace_, event, 0);
      const EventId parent = trace_.events.parent[event];
      const bool is_outermost = parent == kNoEvent || host_work_[parent] != HostWork::kDataLoading;
      if (is_outermost && is_in_steps(trace_, timing_, event)) ++reach.calls;
    }
    return reach;
  }

  Reach run_as_graph(Edit& edit) const {
    capture_in_graph(trace_, host_work_, edit);
    return {0, static_cast<std::int64_t>(graph_.work_count())};
  }

 private:
  void mark_subtree(EventId root, std::vector<bool>& is_marked) const {
    const EventId end = subtree_end(trace_, root);
    for (EventId event = root; event < end; ++event) is_marked[event] = true;
    for (const EventId work : launched_.of_range(root, end)) is_marked[work] = true;
  }

  const Trace& trace_;
  const StepTiming& timing_;
  const std::vector<HostWork>& host_work_;
  const StepGraph& graph_;
  LaunchedWork launched_;
};

ObserverFit observer_of(const Trace& trace, const StepGraph& graph) {
  const ObserverCost guess = observer_cost(trace);
  const auto measured = measured_step(trace);
  if (!measured) return {guess, 1};
  return fitted_to(graph, guess, measured->typical, host_step_ahead(trace, *measured));
}

// Without the observer, where that is left out.
ReplayedStep replayed(const StepGraph& graph, Edit edit, const std::optional<ObserverFit>& observer) {
  if (!observer) return graph.replay(edit);
  edit.observer = observer->cost;
  ReplayedStep step = graph.replay(edit);
  for (Nanoseconds* const time : {&step.period, &step.device_busy, &step.host_busy})
    *time = static_cast<Nanoseconds>(static_cast<double>(*time) * observer->rest);
  return step;
}

}  // namespace

std::string_view name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kBusyDevice:
      return "device";
    case Bottleneck::kBusyHost:
      return "host";
    case Bottleneck::kNeither:
      break;
  }
  return "neither";
}

double WhatIf::saved_percent() const {
  return before.period <= 0 ? 0 : 100.0 * static_cast<double>(saved()) / static_cast<double>(before.period);
}

Bottleneck WhatIf::bottleneck_of(const ReplayedStep& step) {
  const double needed = kShareOfBottleneck * static_cast<double>(step.period);
  if (step.period <= 0) return Bottleneck::kNeither;
  if (static_cast<double>(step.device_busy) >= needed) return Bottleneck::kBusyDevice;
  if (static_cast<double>(step.host_busy) >= needed) return Bottleneck::kBusyHost;
  return Bottleneck::kNeither;
}

WhatIf what_if(const Trace& trace, const Changes& changes, const std::optional<StepRange>& steps) {
  WhatIf result;
  result.changes = changes;
  result.timing = step_timing(trace, steps).value();
  result.recorded = result.timing.period();
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  const StepGraph graph(trace, result.timing, host_work);
  result.has_device = graph.work_count() > 0;

  Edit after;
  std::optional<ObserverFit> observer;
  if (changes.leaves_out_observer) observer = observer_of(trace, graph);
  const Editor editor(trace, result.timing, host_work, graph);
  for (const PatternChange& change : changes.patterns) result.reach.push_back(editor.change(change, after));
  if (changes.drops_waits) result.waits = editor.drop_waits(after);
  if (changes.has_instant_data) result.data = editor.load_instantly(after);
  if (changes.runs_as_graph) result.graph = editor.run_as_graph(after);
  result.before = replayed(graph, {}, changes.has_any() ? observer : std::nullopt);
  result.after = replayed(graph, std::move(after), observer);
  return result;
}

}  // namespace telltale
