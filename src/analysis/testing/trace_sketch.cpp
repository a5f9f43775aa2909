#include "analysis/testing/trace_sketch.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "trace/step_marks.h"

namespace telltale {

TraceSketch::TraceSketch() {
  trace_.format = "sketch";
  trace_.processes.push_back({});
}

TrackId TraceSketch::thread(std::string_view name) {
  Track track;
  track.name = trace_.strings.intern(name);
  trace_.tracks.push_back(track);
  return static_cast<TrackId>(trace_.tracks.size() - 1);
}

TrackId TraceSketch::stream(DeviceId device, std::int64_t number) {
  const TrackId id = thread("stream " + std::to_string(number));
  trace_.tracks[id].kind = TrackKind::kStream;
  trace_.tracks[id].device = device;
  trace_.tracks[id].native_id = number;
  return id;
}

TrackId TraceSketch::async_spans() {
  const TrackId id = thread("spans");
  trace_.tracks[id].kind = TrackKind::kAsync;
  return id;
}

TraceSketch::Handle TraceSketch::event(TrackId track, Kind kind, std::string_view name, Nanoseconds start,
                                       Nanoseconds end) {
  events_.push_back(
      {track, kind, trace_.strings.intern(name), start, end, kNone, OperatorInfo::kNoInputs, {}, {}, {}, {}});
  return events_.size() - 1;
}

void TraceSketch::set_inputs(Handle op, std::string_view shapes, std::string_view concrete) {
  OperatorInputs inputs;
  inputs.shapes = trace_.strings.intern(shapes);
  inputs.concrete = trace_.strings.intern(concrete);
  events_[op].inputs = static_cast<std::uint32_t>(trace_.operator_inputs.size());
  trace_.operator_inputs.push_back(inputs);
}

void TraceSketch::set_types(Handle op, std::string_view types) {
  trace_.operator_inputs[events_[op].inputs].types = trace_.strings.intern(types);
}

void TraceSketch::set_strides(Handle op, std::string_view strides) {
  trace_.operator_inputs[events_[op].inputs].strides = trace_.strings.intern(strides);
}

void TraceSketch::set_call_stack(Handle op, std::string_view frames) {
  events_[op].call_stack = trace_.strings.intern(frames);
}

void TraceSketch::allocate(TrackId track, Nanoseconds time, std::int64_t bytes, DeviceId device,
                           std::uint64_t address) {
  MemoryEvents& memory = trace_.memory;
  memory.time.push_back(time);
  memory.address.push_back(address);
  memory.bytes.push_back(bytes);
  memory.total_allocated.push_back(-1);
  memory.total_reserved.push_back(-1);
  memory.device.push_back(device);
  memory.track.push_back(track);
  memory.event.push_back(kNoEvent);
}

void TraceSketch::count(std::string_view counter, Nanoseconds time, double value) {
  Counters& counters = trace_.counters;
  const StringId name = trace_.strings.intern(counter);
  if (counters.series.empty() || counters.series.back().name != name) {
    const auto first = static_cast<std::uint32_t>(counters.size());
    counters.series.push_back({name, trace_.strings.intern("value"), 0, first, 0});
  }
  ++counters.series.back().count;
  counters.time.push_back(time);
  counters.value.push_back(value);
}

Trace TraceSketch::build() {
  place_events();
  for (const auto& [from, to] : flows_) trace_.flows.push_back({kEmptyString, ids_[from], ids_[to]});
  for (EventId event = 0; event < trace_.events.size(); ++event) {
    trace_.events.parent.push_back(innermost_around(event));
  }
  trace_.steps = marked_steps(trace_);
  place_allocations();
  return std::move(trace_);
}

void TraceSketch::place_events() {
  std::vector<Handle> order(events_.size());
  std::iota(order.begin(), order.end(), Handle{0});
  std::ranges::stable_sort(order, {}, [&](Handle handle) {
    const SketchedEvent& event = events_[handle];
    return std::tuple(event.track, event.start, -(event.end - event.start));
  });
  ids_.resize(events_.size());
  for (EventId id = 0; id < order.size(); ++id) ids_[order[id]] = id;

  Events& events = trace_.events;
  for (EventId id = 0; id < order.size(); ++id) {
    const SketchedEvent& event = events_[order[id]];
    events.start.push_back(event.start);
    events.duration.push_back(event.end - event.start);
    events.name.push_back(event.name);
    events.kind.push_back(event.kind);
    events.track.push_back(event.track);
    events.cause.push_back(event.cause == kNone ? kNoEvent : ids_[event.cause]);
    if (event.inputs != OperatorInfo::kNoInputs) {
      OperatorInfo info;
      info.inputs = event.inputs;
      trace_.operators.append(id, info);
    }
    if (event.call_stack != kEmptyString) {
      trace_.operator_stacks.append(id, {event.call_stack, kEmptyString});
    }
    if (event.copy) trace_.copies.append(id, *event.copy);
    if (event.sync) trace_.syncs.append(id, *event.sync);
    if (event.collective) trace_.collectives.append(id, *event.collective);
    if (event.launch) {
      trace_.kernels.append(id, {static_cast<std::uint32_t>(trace_.kernel_launches.size())});
      trace_.kernel_launches.push_back(*event.launch);
    }
    Track& track = trace_.tracks[event.track];
    if (track.event_count++ == 0) track.first_event = id;
    trace_.duration = std::max(trace_.duration, event.end);
  }
}

EventId TraceSketch::innermost_around(EventId event) const {
  const Events& events = trace_.events;
  EventId innermost = kNoEvent;
  for (EventId other = 0; other < event; ++other) {
    const bool contains = events.track[other] == events.track[event] && events.start[other] <= events.start[event] &&
                          events.end(event) <= events.end(other);
    if (contains) innermost = other;
  }
  return innermost;
}

void TraceSketch::place_allocations() {
  const Events& events = trace_.events;
  MemoryEvents& memory = trace_.memory;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    for (EventId event = 0; event < events.size(); ++event) {
      const bool is_open = events.track[event] == memory.track[row] && events.start[event] <= memory.time[row] &&
                           memory.time[row] <= events.end(event);
      if (is_open) memory.event[row] = event;
    }
  }
}

}  // namespace telltale
