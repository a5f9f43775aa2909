// The one type that everything after the readers looks at: what happened, in columns.
//
// A Trace is immutable once built (see builder.h) and may be read by any number of threads.
//
// An event is a row, named by its EventId. Rows are grouped by track; within a track they are ordered by start,
// then by falling duration, so that an event comes after everything that contains it. A track's events are
// therefore one run of ids, and `parent` is always a smaller id of the same track.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned_strings.h"
#include "base/time.h"
#include "trace/anomalies.h"
#include "trace/kind.h"
#include "trace/side_table.h"

namespace telltale {

using TrackId = std::uint32_t;
using ProcessId = std::uint32_t;  // an index of Trace::processes, not the system's pid
using DeviceId = std::int32_t;    // as the recorder numbers devices; kHost for the CPU
using StepId = std::int32_t;      // an index of Trace::steps

inline constexpr DeviceId kHost = -1;
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

enum class TrackKind : std::uint8_t { kThread, kStream, kAsync, kCounter, kRecording };
std::string_view name_of(TrackKind kind);

// Everything of one process, thread or stream number, kind and device.
struct Track {
  StringId name = kEmptyString;  // "thread 425 (pt_autograd_0)", "stream 7"; made up from the id when none is given
  TrackKind kind = TrackKind::kThread;
  ProcessId process = 0;
  DeviceId device = kHost;      // of a stream
  std::int64_t native_id = 0;   // the system's thread id or the stream's number; 0 when the file has text
  std::int64_t sort_index = 0;  // where the recorder wants it shown
  EventId first_event = 0;      // its events are [first_event, first_event + event_count)
  EventId event_count = 0;
};

struct Process {
  StringId name = kEmptyString;
  StringId labels = kEmptyString;
  std::int64_t native_id = 0;  // the pid; 0 when the file has text instead
  std::int64_t sort_index = 0;
};

struct Device {
  DeviceId id = 0;
  std::string name;  // empty when the file does not say
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> compute_major, compute_minor;
  std::optional<int> multiprocessors, warp_size;
  std::optional<int> max_threads_per_multiprocessor;
  std::optional<std::int64_t> registers_per_multiprocessor, shared_memory_per_multiprocessor;
};

// A mark that torch.profiler leaves: an annotation named "ProfilerStep#7".
struct Step {
  std::int64_t index = 0;  // the number in its name
  EventId event = kNoEvent;
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
};

// Whether an annotation of this name marks a step, whatever follows "ProfilerStep#".
bool is_step_name(std::string_view name);
// The number in the name of a step; nothing where it is none, or is not a number from 0 on.
std::optional<std::int64_t> step_number(std::string_view name);
// The name of the step with that number.
std::string step_name(std::int64_t number);

// The arguments of an operator call; equal ones are stored once. Each is compact JSON text as the recorder wrote
// it, a list with one element an argument; kEmptyString when it was not recorded. See shapes.h to read them.
struct OperatorInputs {
  StringId shapes = kEmptyString;    // [[16,1000],[],[]]
  StringId strides = kEmptyString;   // [[1000,1],[],[]]
  StringId types = kEmptyString;     // ["float","Scalar",""]
  StringId concrete = kEmptyString;  // ["","2",""]
  auto operator<=>(const OperatorInputs&) const = default;
};

struct OperatorInfo {
  static constexpr std::uint32_t kNoInputs = UINT32_MAX;
  static constexpr std::int64_t kNoSequence = -1;
  std::uint32_t inputs = kNoInputs;     // index of Trace::operator_inputs
  std::uint32_t forward_thread = 0;     // > 0 only on backward operators; torch's own numbering
  std::int64_t sequence = kNoSequence;  // autograd's sequence number
};

// How a kernel was launched; equal launches are stored once.
struct KernelLaunch {
  std::array<std::int32_t, 3> grid{}, block{};
  std::int32_t registers_per_thread = -1;  // -1: not recorded, likewise below
  std::int32_t shared_memory_bytes = -1;
  std::int32_t occupancy_percent = -1;
  float blocks_per_multiprocessor = -1;
  float warps_per_multiprocessor = -1;
  auto operator<=>(const KernelLaunch&) const = default;
};

struct KernelInfo {
  std::uint32_t launch = 0;  // index of Trace::kernel_launches
};

// A node of a CUDA graph.
struct GraphNode {
  std::int64_t graph = 0;
  std::int64_t node = 0;
};

enum class MemorySpace : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };
std::string_view name_of(MemorySpace space);

struct CopyInfo {
  std::int64_t bytes = -1;                   // -1: not recorded
  MemorySpace from = MemorySpace::kUnknown;  // of a memset: unknown
  MemorySpace to = MemorySpace::kUnknown;
};

struct SyncInfo {
  StringId kind = kEmptyString;  // "Stream Wait Event", "Context Sync"
  std::int64_t wait_on_stream = -1;
  std::int64_t wait_on_event = -1;
};

// Where an operator was called from, as recorders without Python events write it.
struct OperatorStack {
  StringId call_stack = kEmptyString;  // frames joined by ";", innermost first
  StringId module_hierarchy = kEmptyString;
};

// A place in a program's source; equal ones are stored once.
struct SourceLocation {
  StringId file = kEmptyString, function = kEmptyString;
  std::int32_t line = 0;  // 0: not recorded
  auto operator<=>(const SourceLocation&) const = default;
};

struct CollectiveInfo {
  StringId collective = kEmptyString;  // "allreduce"
  StringId dtype = kEmptyString;
  StringId group_name = kEmptyString, group_description = kEmptyString;
  StringId group_ranks = kEmptyString;  // compact JSON text
  StringId in_split = kEmptyString, out_split = kEmptyString;
  std::int64_t in_elements = -1, out_elements = -1;  // -1: not recorded, likewise below
  std::int64_t group_size = -1;
  std::int64_t rank = -1, source_rank = -1, destination_rank = -1;
  std::int64_t sequence = -1;
  std::int8_t is_async = -1;
};

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

// Values of counters over time, ordered by series, then time.
struct CounterSeries {
  StringId name = kEmptyString;    // the counter's name
  StringId series = kEmptyString;  // the series within it
  TrackId track = 0;
  std::uint32_t first = 0, count = 0;  // rows of Counters
};
struct Counters {
  std::vector<Nanoseconds> time;
  std::vector<double> value;
  std::vector<CounterSeries> series;
  std::size_t size() const { return time.size(); }
};

// A link that the file draws between two events and that no column above already says.
struct Flow {
  StringId name = kEmptyString;
  EventId from = kNoEvent, to = kNoEvent;
};

struct ProcessGroup {
  std::string name, description, backend;
  std::int64_t size = 0;
  std::vector<std::int64_t> ranks;
};
struct Distributed {
  std::string backend, nccl_version;
  std::optional<std::int64_t> rank, world_size;
  std::vector<ProcessGroup> groups;
};

// What the recorder was asked to record besides times. Set from the file's flags or from what its events carry.
struct Recorded {
  bool shapes = false, stacks = false, memory = false, modules = false, flops = false;
};

struct Trace {
  InternedStrings strings;
  Events events;
  // In the order of their first event in the file; then those that only have memory events; then those of counters.
  std::vector<Track> tracks;
  std::vector<Process> processes;  // in the order of their first track
  std::vector<Device> devices;     // those with events or properties, by id
  std::vector<Step> steps;         // by start

  SideTable<OperatorInfo> operators;
  std::vector<OperatorInputs> operator_inputs;
  SideTable<OperatorStack> operator_stacks;
  SideTable<std::uint32_t> sources;  // where an event stands in the program: index of Trace::source_locations
  std::vector<SourceLocation> source_locations;
  SideTable<KernelInfo> kernels;
  std::vector<KernelLaunch> kernel_launches;
  SideTable<GraphNode> graph_nodes;
  SideTable<CopyInfo> copies;  // of memcpy and memset
  SideTable<SyncInfo> syncs;
  SideTable<CollectiveInfo> collectives;
  SideTable<std::uint8_t> lanes;        // > 0: overlaps another event of its track, drawn beside it
  SideTable<StringId> categories;       // of events whose category no kind stands for
  SideTable<StringId> other_arguments;  // compact JSON object of the arguments that no column holds

  MemoryEvents memory;
  Counters counters;
  std::vector<Flow> flows;
  Anomalies anomalies;

  std::string format;                                         // "kineto", "tell"
  std::int64_t origin_epoch_ns = 0;                           // wall-clock time of time 0; 0 when unknown
  Nanoseconds duration = 0;                                   // from time 0 to the end of the last event
  std::uint64_t text_bytes = 0;                               // of the file, decompressed
  std::vector<std::pair<std::string, std::string>> metadata;  // other top-level values, as compact JSON
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

  // Resident bytes of all columns, tables and strings.
  std::size_t memory_bytes() const;
};

}  // namespace telltale
