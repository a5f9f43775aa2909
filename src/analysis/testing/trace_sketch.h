// Draws small traces by hand, for tests: events are given by track, kind, name, start and end; links by handle.
//
// Parents are found by comparing each event with all others, so that tests do not rest on the builder they help to
// test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

class TraceSketch {
 public:
  using Handle = std::size_t;

  TraceSketch();
  TrackId thread(std::string_view name);
  TrackId stream(DeviceId device, std::int64_t number);
  TrackId async_spans();  // where spans of no thread stand

  Handle event(TrackId track, Kind kind, std::string_view name, Nanoseconds start, Nanoseconds end);
  Handle op(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds end) {
    return event(track, Kind::kOperator, name, start, end);
  }

  // For events whose end is not known when they begin.
  void set_end(Handle event, Nanoseconds end) { events_[event].end = end; }

  // Work on a device that the call `launch` handed to it.
  Handle work(TrackId stream, Kind kind, std::string_view name, Nanoseconds start, Nanoseconds end, Handle launch) {
    const Handle handle = event(stream, kind, name, start, end);
    set_cause(handle, launch);
    return handle;
  }

  // The launch of a kernel, the forward operator of a backward one.
  void set_cause(Handle event, Handle cause) { events_[event].cause = cause; }
  void set_inputs(Handle op, std::string_view shapes, std::string_view concrete = {});
  // Of an operator that has inputs.
  void set_types(Handle op, std::string_view types);
  void set_strides(Handle op, std::string_view strides);
  void set_call_stack(Handle op, std::string_view frames);
  void set_copy(Handle copy, CopyInfo info) { events_[copy].copy = info; }
  void set_sync(Handle sync, SyncInfo info) { events_[sync].sync = info; }
  void set_launch(Handle kernel, KernelLaunch launch) { events_[kernel].launch = launch; }
  void set_collective(Handle event, CollectiveInfo info) { events_[event].collective = info; }
  // Negative bytes free what was allocated at the address.
  void allocate(TrackId track, Nanoseconds time, std::int64_t bytes, DeviceId device, std::uint64_t address = 0);

  // An arrow.
  void flow(Handle from, Handle to) { flows_.emplace_back(from, to); }
  // Values of a counter must be given in the order of time, those of one counter after the other.
  void count(std::string_view counter, Nanoseconds time, double value);

  // What no other member fills in may be set here, before build().
  Trace& trace() { return trace_; }

  // Ends the sketch. Annotations named ProfilerStep#n become steps.
  Trace build();
  EventId id(Handle event) const { return ids_[event]; }

 private:
  struct SketchedEvent {
    TrackId track;
    Kind kind;
    StringId name;
    Nanoseconds start, end;
    Handle cause;
    std::uint32_t inputs;
    StringId call_stack;
    std::optional<CopyInfo> copy;
    std::optional<SyncInfo> sync;
    std::optional<CollectiveInfo> collective;
    std::optional<KernelLaunch> launch;
  };
  static constexpr Handle kNone = SIZE_MAX;

  void place_events();
  EventId innermost_around(EventId event) const;
  void place_allocations();

  Trace trace_;
  std::vector<SketchedEvent> events_;
  std::vector<EventId> ids_;
  std::vector<std::pair<Handle, Handle>> flows_;
};

}  // namespace telltale
