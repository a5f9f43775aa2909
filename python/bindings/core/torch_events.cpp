#include "bindings/core/torch_events.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/call_stacks.h"
#include "analysis/call_tree.h"
#include "analysis/key_averages.h"
#include "analysis/operator_work.h"
#include "analysis/torch_launches.h"
#include "base/intervals.h"
#include "bindings/core/torch_extras.h"
#include "bindings/core/torch_numbers.h"
#include "formats/kineto/event_arguments.h"
#include "formats/kineto/flow_arrows.h"
#include "trace/side_table.h"

namespace telltale::python {
namespace {

constexpr std::size_t kWholeStack = SIZE_MAX;
constexpr std::string_view kAsyncTrack = "asynchronous operators";  // as the adapter for PyTorch names it

CallTree torch_tree(const Trace& trace) { return call_tree(trace, {kTorchHostKinds, true}); }

class Listing {
 public:
  explicit Listing(const Trace& trace)
      : trace_(trace),
        tree_(torch_tree(trace)),
        launches_(trace, tree_, false),
        memory_(trace),
        stacks_(trace, kWholeStack),
        operators_(trace.operators),
        others_(trace.other_arguments),
        numbers_(kineto_numbers(trace)),
        place_(trace.events.size(), -1) {}

  TorchEvents list() {
    collect();
    for (std::size_t i = 0; i < result_.events.size(); ++i)
      place_[result_.events[i].event] = static_cast<std::int64_t>(i);
    for (TorchEvent& listed : result_.events) {
      listed.parent = parent_of(listed);
      if (is_api_call(trace_.events.kind[listed.event]))
        listed.linked = place_unfolded(launches_.call_around(listed.event));
    }
    number_arrows();
    list_devices();
    return std::move(result_);
  }

 private:
  void collect() {
    result_.stacks.emplace_back();
    result_.extras.emplace_back();
    for (const Track& track : trace_.tracks) {
      const bool is_async = trace_.strings[track.name].starts_with(kAsyncTrack);
      MemoryChanges::Walk memory = memory_.walk(track.process);
      for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
        if (!tree_.is_call[event] || tree_.is_folded[event]) continue;
        TorchEvent& listed = result_.events.emplace_back(described(event));
        listed.thread = track.native_id;
        listed.is_async = is_async;
        if (!memory_.empty()) listed.memory = memory.during(trace_.events.start[event], trace_.events.end(event));
      }
    }
    std::ranges::stable_sort(result_.events, [&](const TorchEvent& a, const TorchEvent& b) {
      const Events& events = trace_.events;
      if (events.start[a.event] != events.start[b.event]) return events.start[a.event] < events.start[b.event];
      return events.end(a.event) > events.end(b.event);
    });
  }

  // As they are exported.
  void number_arrows() {
    for (const kineto::Arrow& arrow : kineto::forward_backward_arrows(trace_, kineto::Places(trace_))) {
      for (const EventId event : {arrow.from, arrow.to}) {
        if (place_[event] < 0) continue;
        TorchEvent& listed = result_.events[static_cast<std::size_t>(place_[event])];
        listed.arrow = kineto::link_number(arrow.to);
        listed.does_arrow_start = event == arrow.from;
      }
    }
  }

  void list_devices() {
    const Events& events = trace_.events;
    const auto add = [&](EventId event, TrackId track, Interval span, EventId linked, bool is_annotation) {
      const Track& stream = trace_.tracks[track];
      result_.on_devices.push_back(
          {event, span, stream.device, stream.native_id, place_unfolded(linked), is_annotation});
    };
    for (EventId event = 0; event < events.size(); ++event)
      if (is_device_work(events.kind[event]))
        add(event, events.track[event], {events.start[event], events.end(event)}, launches_.call_of(event), false);
    for (const DeviceAnnotation& each : device_annotations(trace_, launches_))
      add(each.annotation, each.stream, each.span, each.annotation, true);
    std::ranges::stable_sort(result_.on_devices, {}, [](const TorchDeviceEvent& each) { return each.span.begin; });
  }

  TorchEvent described(EventId event) {
    TorchEvent listed;
    listed.event = event;
    listed.stack = stack_of(event);
    listed.extras = extras_of(event);
    listed.number = numbers_[event];
    const OperatorInfo* const info = operators_.find(event);
    if (info == nullptr) return listed;
    listed.inputs = info->inputs;
    listed.sequence = info->sequence;
    listed.is_backward = info->forward_thread != 0;
    const EventId forward = trace_.events.cause[event];
    if (listed.is_backward && forward != kNoEvent)
      listed.forward_thread = trace_.tracks[trace_.events.track[forward]].native_id;
    if (info->inputs != OperatorInfo::kNoInputs) listed.flops = flops_of(trace_.events.name[event], info->inputs);
    return listed;
  }

  std::uint32_t stack_of(EventId event) {
    const StackId stack = stacks_.of(event);
    if (stack == kNoStack) return 0;
    const auto [known, is_new] = stack_places_.try_emplace(stack, static_cast<std::uint32_t>(result_.stacks.size()));
    if (is_new) result_.stacks.push_back(stacks_.frames(stack));
    return known->second;
  }

  std::uint32_t extras_of(EventId event) {
    const StringId* const others = others_.find(event);
    if (others == nullptr) return 0;
    const auto [known, is_new] = extras_places_.try_emplace(*others, 0);
    if (is_new) {
      if (const auto extras = torch_extras(trace_.strings[*others])) {
        known->second = static_cast<std::uint32_t>(result_.extras.size());
        result_.extras.push_back({extras->overload, extras->keywords});
      }
    }
    return known->second;
  }

  std::int64_t flops_of(StringId name, std::uint32_t inputs) {
    const auto [known, is_new] = flops_.try_emplace(std::uint64_t{name} << 32 | inputs, 0);
    const FlopFormula formula = is_new ? flop_formula(trace_.strings[name]) : FlopFormula::kNone;
    if (formula != FlopFormula::kNone) {
      const OperatorInputs& texts = trace_.operator_inputs[inputs];
      known->second = count_flops(formula, trace_.strings[texts.shapes], trace_.strings[texts.concrete]).value_or(0);
    }
    return known->second;
  }

  std::int64_t parent_of(const TorchEvent& listed) const {
    return listed.is_async ? -1 : place_unfolded(tree_.parent[listed.event]);
  }

  // Calls that are folded into their parents are none.
  std::int64_t place_unfolded(EventId call) const {
    while (call != kNoEvent && tree_.is_folded[call]) call = tree_.parent[call];
    return call == kNoEvent ? -1 : place_[call];
  }

  const Trace& trace_;
  CallTree tree_;
  TorchLaunches launches_;
  MemoryChanges memory_;
  CallStacks stacks_;
  SideTableWalk<OperatorInfo> operators_;
  SideTableWalk<StringId> others_;
  std::vector<std::size_t> numbers_;
  std::vector<std::int64_t> place_;  // in the list, by event
  std::unordered_map<StackId, std::uint32_t> stack_places_;
  std::unordered_map<StringId, std::uint32_t> extras_places_;
  std::unordered_map<std::uint64_t, std::int64_t> flops_;  // by name and inputs
  TorchEvents result_;
};

}  // namespace

TorchEvents torch_events(const Trace& trace) { return Listing(trace).list(); }

std::vector<StrayMemory> stray_memory(const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  std::vector<StrayMemory> strays;
  if (memory.size() == 0) return strays;
  const CallTree tree = torch_tree(trace);
  std::vector<Interval> calls;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (tree.is_call[event] && tree.parent[event] == kNoEvent)
      calls.push_back({trace.events.start[event], trace.events.end(event)});
  }
  std::ranges::sort(calls, {}, &Interval::begin);
  std::vector<std::uint32_t> by_time(memory.size());
  for (std::uint32_t row = 0; row < by_time.size(); ++row) by_time[row] = row;
  std::ranges::stable_sort(by_time, {}, [&](std::uint32_t row) { return memory.time[row]; });

  std::size_t next = 0;
  Nanoseconds covered_until = INT64_MIN;  // both ends of a call belong to it
  for (const std::uint32_t row : by_time) {
    for (; next < calls.size() && calls[next].begin <= memory.time[row]; ++next)
      covered_until = std::max(covered_until, calls[next].end);
    if (memory.time[row] <= covered_until) continue;
    StrayMemory& stray = strays.emplace_back();
    stray.time = memory.time[row];
    stray.thread = trace.tracks[memory.track[row]].native_id;
    (memory.device[row] == kHost ? stray.change.host : stray.change.device) = memory.bytes[row];
  }
  return strays;
}

}  // namespace telltale::python
