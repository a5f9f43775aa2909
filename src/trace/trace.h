// The one type that everything after the readers looks at: what happened, in columns.
//
// A Trace is immutable once built (see builder.h) and may be read by any number of threads.
//
// An event is a row, named by its EventId. Rows are grouped by track; within a track they are ordered by start,
// then by falling duration, so that an event comes after everything that contains it. A track's events are
// therefore one run of ids, and `parent` is always a smaller id of the same track.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned_strings.h"
#include "base/time.h"
#include "trace/allocator_log.h"
#include "trace/anomalies.h"
#include "trace/columns.h"
#include "trace/details.h"
#include "trace/kind.h"
#include "trace/places.h"

namespace telltale {

using StepId = std::int32_t;  // an index of Trace::steps
inline constexpr StepId kNoStep = -1;

struct Events {
  std::vector<Nanoseconds> start;     // from the trace's own origin
  std::vector<Nanoseconds> duration;  // never negative
  std::vector<StringId> name;
  std::vector<Kind> kind;
  std::vector<TrackId> track;
  // The innermost event of the same track that contains this one: of all that contain it, the last in row order.
  // Touching ends count as containing. kNoEvent at the top.
  std::vector<EventId> parent;
  // What made this event happen, where that is not its parent, else kNoEvent:
  //   device work, device synchronization → the runtime or driver call that launched it (kernels of one CUDA graph
  //     share their launch), or the operator itself where no launch was recorded but the operator is known;
  //   a backward operator → the forward operator that created it;
  //   a runtime or driver call outside any operator → the operator that its external id names.
  std::vector<EventId> cause;

  std::size_t size() const { return start.size(); }
  Nanoseconds end(EventId event) const { return start[event] + duration[event]; }
};

constexpr void describe(auto& columns, RowOf<Events>) {
  columns.number(&Events::start,
                 {.name = "start_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds});
  columns.number(&Events::duration, {.name = "duration_ns", .text = "never negative", .unit = Unit::kNanoseconds});
  columns.text(&Events::name, {.name = "name", .text = "as the recorder calls it", .null = Null::kNever});
  columns.choice(&Events::kind, kKinds,
                 {.name = "kind", .text = "`operator`, `kernel`, `memcpy`, `python` and others"});
  columns.index(&Events::track, RowOf<Track>{}, {.name = "track", .text = "a row of `tracks`"});
  columns.event(&Events::parent, {.name = "parent", .text = "the innermost event around it on its track"});
  columns.event(&Events::cause,
                {.name = "cause", .text = "the launch of device work, the forward operator of a backward one"});
}
static_assert(describes_all_members<Events>);

// A mark that torch.profiler or a framework leaves: an annotation such as "ProfilerStep#7". See step_marks.h.
struct Step {
  std::int64_t index = 0;  // the number in its name; its place where the name has none
  EventId event = kNoEvent;
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
};
constexpr void describe(auto& columns, RowOf<Step>) {
  columns.number(&Step::index, {.name = "step", .text = "the number in its name, or its place", .rises = true});
  columns.index(&Step::event, RowOf<Events>{},
                {.name = "event", .text = "the annotation that marks it", .null = Null::kNoRow});
  columns.number(
      &Step::start,
      {.name = "start_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds, .rises = true});
  columns.number(&Step::duration, {.name = "duration_ns", .text = "of the annotation", .unit = Unit::kNanoseconds});
}
static_assert(describes_all_members<Step>);

// Allocations (positive bytes) and frees (negative bytes), by time.
struct MemoryEvents {
  std::vector<Nanoseconds> time;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> total_allocated, total_reserved;  // -1: not recorded
  std::vector<DeviceId> device;
  std::vector<TrackId> track;
  std::vector<EventId> event;  // the innermost event open on that track at that time, or kNoEvent
  std::vector<StringId> pool;  // of the allocator; no rows at all when nobody recorded pools

  std::size_t size() const { return time.size(); }
  void reserve(std::size_t rows);
};
constexpr void describe(auto& columns, RowOf<MemoryEvents>) {
  using Memory = MemoryEvents;
  columns.number(&Memory::time, {.name = "time_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds});
  columns.number(&Memory::address, {.name = "address", .text = "of the block"});
  columns.number(&Memory::bytes, {.name = "bytes", .text = "allocated; negative: freed", .unit = Unit::kBytes});
  columns.number(
      &Memory::total_allocated,
      {.name = "total_allocated", .text = "of the device, after it", .unit = Unit::kBytes, .null = Null::kNegative});
  columns.number(&Memory::total_reserved,
                 {.name = "total_reserved", .text = "likewise", .unit = Unit::kBytes, .null = Null::kNegative});
  columns.number(&Memory::device, {.name = "device", .text = "null: the host", .null = Null::kHost});
  columns.index(&Memory::track, RowOf<Track>{}, {.name = "track", .text = "a row of `tracks`"});
  columns.event(&Memory::event, {.name = "event", .text = "the innermost one open on that track then"});
  columns.text(&Memory::pool, {.name = "pool", .text = "of the allocator"});
}
static_assert(describes_all_members<MemoryEvents>);

// Values of counters over time, ordered by series, then time.
struct CounterSeries {
  StringId name = kEmptyString;    // the counter's name
  StringId series = kEmptyString;  // the series within it
  TrackId track = 0;
  std::uint32_t first = 0, count = 0;  // rows of Counters
};
constexpr void describe(auto& columns, RowOf<CounterSeries>) {
  columns.text(&CounterSeries::name, {.name = "counter", .text = "the counter's name"});
  columns.text(&CounterSeries::series, {.name = "series", .text = "the series within it"});
  columns.index(&CounterSeries::track, RowOf<Track>{}, {.name = "track", .text = "a row of `tracks`"});
  columns.number(&CounterSeries::first, {.name = "first", .text = "row of its values", .is_shown = false});
  columns.number(&CounterSeries::count, {.name = "count", .text = "of its values", .is_shown = false});
}
static_assert(describes_all_members<CounterSeries>);

struct Counters {
  std::vector<Nanoseconds> time;
  std::vector<double> value;
  std::vector<CounterSeries> series;
  std::size_t size() const { return time.size(); }
};
// Of its values; which series they belong to, the series say.
constexpr void describe(auto& columns, RowOf<Counters>) {
  columns.number(&Counters::time,
                 {.name = "time_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds});
  columns.number(&Counters::value, {.name = "value", .text = "from then on"});
}

// A link that the file draws between two events and that no column above already says.
struct Flow {
  StringId name = kEmptyString;
  EventId from = kNoEvent, to = kNoEvent;
};
constexpr void describe(auto& columns, RowOf<Flow>) {
  columns.text(&Flow::name, {.name = "name", .text = "as the file has it"});
  columns.event(&Flow::from, {.name = "from_event", .text = "where it starts"});
  columns.event(&Flow::to, {.name = "to_event", .text = "where it ends"});
}
static_assert(describes_all_members<Flow>);

// A value of the file's header that nothing else holds: its name, and compact JSON.
using MetadataValue = std::pair<std::string, std::string>;
constexpr void describe(auto& columns, RowOf<MetadataValue>) {
  columns.words(&MetadataValue::first, {.name = "name", .text = "its key in the file", .null = Null::kNever});
  columns.words(&MetadataValue::second, {.name = "value", .text = "as JSON", .null = Null::kNever});
}

struct ProcessGroup {
  std::string name, description, backend;
  std::int64_t size = 0;
  std::vector<std::int64_t> ranks;
};
constexpr void describe(auto& columns, RowOf<ProcessGroup>) {
  columns.words(&ProcessGroup::name, {.name = "name"});
  columns.words(&ProcessGroup::description, {.name = "description"});
  columns.words(&ProcessGroup::backend, {.name = "backend"});
  columns.number(&ProcessGroup::size, {.name = "size"});
  columns.list(&ProcessGroup::ranks, {.name = "ranks"});
}
static_assert(describes_all_members<ProcessGroup>);

struct Distributed {
  std::string backend, nccl_version;
  std::optional<std::int64_t> rank, world_size;
  std::vector<ProcessGroup> groups;
};
// All but its groups.
constexpr void describe(auto& columns, RowOf<Distributed>) {
  columns.words(&Distributed::backend, {.name = "backend"});
  columns.words(&Distributed::nccl_version, {.name = "nccl_version"});
  columns.maybe(&Distributed::rank, {.name = "rank"});
  columns.maybe(&Distributed::world_size, {.name = "world_size"});
}
static_assert(described_member_count<Distributed>() + 1 == member_count<Distributed>());

// What the recorder was asked to record besides times. Set from the file's flags or from what its events carry.
struct Recorded {
  bool shapes = false, stacks = false, memory = false, modules = false, flops = false;
  bool sampled = false;  // Python calls are those that samples and operators show: how many there were is not known
};
constexpr void describe(auto& columns, RowOf<Recorded>) {
  columns.flag(&Recorded::shapes, {.name = "shapes"});
  columns.flag(&Recorded::stacks, {.name = "stacks"});
  columns.flag(&Recorded::memory, {.name = "memory"});
  columns.flag(&Recorded::modules, {.name = "modules"});
  columns.flag(&Recorded::flops, {.name = "flops"});
  columns.flag(&Recorded::sampled, {.name = "sampled"});
}
static_assert(describes_all_members<Recorded>);

template <typename Row>
using RowList = std::vector<Row>;

struct Trace : SideTables<SideTable>, SharedRows<RowList> {
  InternedStrings strings;
  Events events;
  // In the order of their first event in the file; then those that only have memory events; then those of counters.
  std::vector<Track> tracks;
  std::vector<Process> processes;  // in the order of their first track
  std::vector<Device> devices;     // those with events or properties, by id
  std::vector<Step> steps;         // by start

  MemoryEvents memory;
  std::vector<AllocatorEvent> allocator_events;
  std::vector<MemorySegment> memory_segments;
  std::vector<MemoryBlock> memory_blocks;
  std::vector<NotedTensor> noted_tensors;  // by time
  Counters counters;
  std::vector<Flow> flows;
  Anomalies anomalies;

  std::string format;                   // "kineto", "tell"
  std::int64_t origin_epoch_ns = 0;     // wall-clock time of time 0; 0 when unknown
  Nanoseconds duration = 0;             // from time 0 to the end of the last event
  std::uint64_t text_bytes = 0;         // of the file, decompressed
  std::vector<MetadataValue> metadata;  // other top-level values
  std::optional<Distributed> distributed;
  Recorded recorded;

  std::string_view name(EventId event) const { return strings[events.name[event]]; }

  // The step an event belongs to: that of the time at which it started or, for device events, at which it was
  // launched. kNoStep outside all steps.
  StepId step_of(EventId event) const;

  // The nearest ancestor by `parent` that is of `kind`, or kNoEvent. An event is not its own ancestor.
  EventId ancestor(EventId event, Kind kind) const;

  // The launch of device work, or kNoEvent.
  EventId launch_of(EventId event) const;

  // The value of that name in `metadata`; null when there is none.
  const std::string* metadata_named(std::string_view name) const;

  // The operator that caused an event: the innermost operator around it or around its launch, or kNoEvent.
  EventId operator_of(EventId event) const;
  // The same, but of an operator that operator itself; kNoEvent for kNoEvent.
  EventId operator_at(EventId event) const;

  // What device work comes from: of the work of a CUDA graph that which captured it, where that was recorded, else its
  // launch or whatever else caused it. kNoEvent when neither is known.
  EventId origin_of(EventId event) const;

  // Resident bytes of all columns, tables and strings.
  std::size_t memory_bytes() const;
};

// What a trace has once, but for what was recorded.
constexpr void describe(auto& columns, RowOf<Trace>) {
  columns.words(&Trace::format, {.name = "format"});
  columns.number(&Trace::origin_epoch_ns, {.name = "origin_epoch_ns", .unit = Unit::kNanoseconds});
  columns.number(&Trace::duration, {.name = "duration", .unit = Unit::kNanoseconds});
  columns.number(&Trace::text_bytes, {.name = "text_bytes", .unit = Unit::kBytes});
}

// Calls `visit(info, rows_in, row)` for each list of rows, those that side tables share included: `rows_in(trace)` is
// the list, `describe(columns, row)` its description.
constexpr void for_each_list(auto&& visit) {
  visit(
      TableInfo{.name = "flows", .number = 26, .text = "Links that the file draws and that no `cause` already says."},
      [](auto& trace) -> auto& { return trace.flows; }, RowOf<Flow>{});
  visit(
      TableInfo{.name = "steps", .number = 8, .text = "Steps that the file marks, by start."},
      [](auto& trace) -> auto& { return trace.steps; }, RowOf<Step>{});
  visit(
      TableInfo{.name = "tracks",
                .number = 4,
                .text = "Threads, streams and whatever else events stand on.",
                .row_name = "track"},
      [](auto& trace) -> auto& { return trace.tracks; }, RowOf<Track>{});
  visit(
      TableInfo{.name = "processes", .number = 3, .text = "What the tracks belong to.", .row_name = "process"},
      [](auto& trace) -> auto& { return trace.processes; }, RowOf<Process>{});
  visit(
      TableInfo{.name = "devices", .number = 5, .text = "Those with events or properties."},
      [](auto& trace) -> auto& { return trace.devices; }, RowOf<Device>{});
  visit(
      TableInfo{.name = "metadata", .number = 27, .text = "Other values of the file's header."},
      [](auto& trace) -> auto& { return trace.metadata; }, RowOf<MetadataValue>{});
  visit(
      TableInfo{.name = "", .number = 25, .text = "series of counters"},
      [](auto& trace) -> auto& { return trace.counters.series; }, RowOf<CounterSeries>{});
  visit(
      TableInfo{.name = "allocator_events", .number = 32, .text = "The log of PyTorch's caching allocators."},
      [](auto& trace) -> auto& { return trace.allocator_events; }, RowOf<AllocatorEvent>{});
  visit(
      TableInfo{.name = "memory_segments",
                .number = 33,
                .text = "What the allocators held when their log begins.",
                .row_name = "segment"},
      [](auto& trace) -> auto& { return trace.memory_segments; }, RowOf<MemorySegment>{});
  visit(
      TableInfo{.name = "memory_blocks", .number = 34, .text = "The parts of those segments, by address."},
      [](auto& trace) -> auto& { return trace.memory_blocks; }, RowOf<MemoryBlock>{});
  visit(
      TableInfo{.name = "noted_tensors", .number = 35, .text = "Tensors of which the program says what they are."},
      [](auto& trace) -> auto& { return trace.noted_tensors; }, RowOf<NotedTensor>{});
  for_each_shared_list(visit);
}

}  // namespace telltale
