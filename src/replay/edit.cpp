#include "replay/edit.h"

#include <algorithm>

namespace telltale {
namespace {

template <typename Value>
Value& slot(std::vector<Value>& column, const Trace& trace, EventId event, Value standard) {
  if (column.empty()) column.assign(trace.events.size(), standard);
  return column[event];
}

// Both are torch.profiler's. With stacks: fitted on 39 pairs of recorded and unprofiled steps, those of the fit half of
// the planted programs; each left out in turn, 25 are within 10 % of the unprofiled step, and the cost of those that
// the host is the bottleneck of is off by 0.7 to 1.25 times. Costs for single Python calls and API calls did not make
// it better. Without stacks: 18 pairs (9 programs).
constexpr ObserverCost kWithPythonCalls = {.python_call = 0, .operator_call = 1'000, .api_call = 0, .share = 0.5};
constexpr ObserverCost kWithoutPythonCalls = {.python_call = 0, .operator_call = 3'000, .api_call = 5'000};

// Our own recorder: measured on 192 steps of examples/python/train.py, 17,600 operators and 8,800 Python calls each, on
// an AMD EPYC (11.5 to 12.3 ms without it, 13.7 with, 14.3 with stacks, 17.4 with shapes).
constexpr ObserverCost kOfOurRecorder = {.python_call = 75, .operator_call = 100, .api_call = 0};
constexpr double kInputsOfOperator = 210;
// With a GPU, on an H200. An operator, whose callback runs on cold caches there: 522 ns (bench/torch/measure.py). Its
// inputs, and samples: a decode of a Llama took 47.4 % of 7.79 ms longer with them and 27.5 % of 7.68 without, in 1,600
// operators. A call, and a launch beside that: what empty callbacks at the driver's launches add to an operator with
// one launch, and what records of their kernels add to that (bench/gpu/cupti_floor.py: 688 ns, quartiles 632 and 836,
// and 1,762, quartiles 1,543 and 2,262). In a loop of one and the same operator all is warm: these make 3,266 ns of one
// with a launch, where 2,042 were measured.
constexpr ObserverCost kOfOurRecorderWithGpu = {
    .python_call = 75, .operator_call = 522, .api_call = 688, .launch = 1'762 - 688};
constexpr double kInputsOfOperatorWithGpu = 990;
// A program without torch, launches with nothing in between: 128 of them took 436 µs without it, 35 more with callbacks
// and 90 more with records.
constexpr double kCallOfCuda = 35'000.0 / 128, kLaunchOfCuda = 90'000.0 / 128;

// Our torch adapter notes what it was asked for, our library for CUDA which calls it records.
bool is_of_torch_by_us(const Trace& trace) { return trace.metadata_named("recorded") != nullptr; }
bool has_cuda_by_us(const Trace& trace) { return trace.metadata_named("cuda_calls") != nullptr; }

ObserverCost cost_of_our_recorder(const Trace& trace) {
  const bool has_gpu = has_cuda_by_us(trace), has_torch = is_of_torch_by_us(trace);
  ObserverCost cost = has_gpu && has_torch ? kOfOurRecorderWithGpu : kOfOurRecorder;
  if (trace.recorded.shapes) cost.operator_call += has_gpu ? kInputsOfOperatorWithGpu : kInputsOfOperator;
  if (has_gpu && !has_torch) {
    cost.api_call = kCallOfCuda;
    cost.launch = kLaunchOfCuda;
  }
  // Calls that were seen by samples were not stopped at.
  if (trace.recorded.sampled) cost.python_call = 0;
  return cost;
}

// What launching a graph costs the host.
constexpr Nanoseconds kGraphLaunch = 30'000;

bool is_in_graph(HostWork work) {
  return work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching;
}

}  // namespace

LaunchedWork::LaunchedWork(const Trace& trace) {
  const Events& events = trace.events;
  const auto launch_of = [&](EventId event) {
    return is_device_work(events.kind[event]) ? trace.launch_of(event) : kNoEvent;
  };
  first_.assign(events.size() + 1, 0);
  for (EventId event = 0; event < events.size(); ++event)
    if (const EventId launch = launch_of(event); launch != kNoEvent) ++first_[launch + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  work_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (EventId event = 0; event < events.size(); ++event)
    if (const EventId launch = launch_of(event); launch != kNoEvent) work_[next[launch]++] = event;
}

std::span<const EventId> LaunchedWork::of_range(EventId first, EventId end) const {
  return std::span(work_).subspan(first_[first], first_[end] - first_[first]);
}

EventId subtree_end(const Trace& trace, EventId root) {
  const Track& track = trace.tracks[trace.events.track[root]];
  const EventId track_end = track.first_event + track.event_count;
  const auto start = trace.events.start.begin();
  return static_cast<EventId>(std::lower_bound(start + root + 1, start + track_end, trace.events.end(root)) - start);
}

void Edit::scale_event(const Trace& trace, EventId event, float factor) { slot(scale, trace, event, 1.0F) *= factor; }

void Edit::drop_wait(const Trace& trace, EventId call) {
  if (is_free_of_waiting.empty()) is_free_of_waiting.resize(trace.events.size());
  is_free_of_waiting[call] = true;
}

void Edit::run_in_graph(const Trace& trace, EventId work) {
  if (is_graph_node.empty()) is_graph_node.resize(trace.events.size());
  is_graph_node[work] = true;
}

void Edit::scale_subtree(const Trace& trace, const LaunchedWork& launched, EventId root, float host_factor,
                         float device_factor) {
  const EventId end = subtree_end(trace, root);
  for (EventId event = root; event < end; ++event) scale_event(trace, event, host_factor);
  for (const EventId work : launched.of_range(root, end)) scale_event(trace, work, device_factor);
}

ObserverCost observer_cost(const Trace& trace) {
  if (is_of_torch_by_us(trace) || has_cuda_by_us(trace)) return cost_of_our_recorder(trace);
  const bool has_python =
      std::find(trace.events.kind.begin(), trace.events.kind.end(), Kind::kPython) != trace.events.kind.end();
  return has_python ? kWithPythonCalls : kWithoutPythonCalls;
}

Edit without_observer(const Trace& trace) {
  Edit edit;
  edit.observer = observer_cost(trace);
  return edit;
}

void capture_in_graph(const Trace& trace, const std::vector<HostWork>& host_work, Edit& edit) {
  edit.added_host_ns += kGraphLaunch;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_device_work(trace.events.kind[event]))
      edit.run_in_graph(trace, event);
    else if (!is_on_device(trace.events.kind[event]) && is_in_graph(host_work[event]))
      edit.scale_event(trace, event, 0);
  }
}

}  // namespace telltale
