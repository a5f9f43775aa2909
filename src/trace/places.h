// Where events happen: processes, their tracks, and devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/interned_strings.h"
#include "trace/columns.h"
#include "trace/side_table.h"

namespace telltale {

using TrackId = std::uint32_t;
using ProcessId = std::uint32_t;  // an index of Trace::processes, not the system's pid
using DeviceId = std::int32_t;    // as the recorder numbers devices; kHost for the CPU

inline constexpr DeviceId kHost = -1;

struct Process {
  StringId name = kEmptyString;
  StringId labels = kEmptyString;
  std::int64_t native_id = 0;  // the pid; 0 when the file has text instead
  std::int64_t sort_index = 0;
};
constexpr void describe(auto& columns, RowOf<Process>) {
  columns.text(&Process::name, {.name = "name", .text = "as the recorder calls it"});
  columns.text(&Process::labels, {.name = "labels", .text = "what it is, such as `CPU` or `GPU 0`"});
  columns.number(&Process::native_id, {.name = "pid", .text = "0 where the file has text instead"});
  columns.number(&Process::sort_index, {.name = "sort_index", .text = "where the recorder wants it shown"});
}
static_assert(describes_all_members<Process>);

enum class TrackKind : std::uint8_t { kThread, kStream, kAsync, kCounter, kRecording };
std::string_view name_of(TrackKind kind);
inline constexpr TrackKind kTrackKinds[] = {TrackKind::kThread, TrackKind::kStream, TrackKind::kAsync,
                                            TrackKind::kCounter, TrackKind::kRecording};

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
constexpr void describe(auto& columns, RowOf<Track>) {
  columns.text(&Track::name, {.name = "name", .text = "`thread 425 (pt_autograd_0)`, `stream 7`"});
  columns.choice(&Track::kind, kTrackKinds,
                 {.name = "kind", .text = "`thread`, `stream`, `async`, `counter` or `recording`"});
  columns.index(&Track::process, RowOf<Process>{}, {.name = "process", .text = "a row of `processes`"});
  columns.number(&Track::device, {.name = "device", .text = "of a stream", .null = Null::kHost});
  columns.number(&Track::native_id, {.name = "native_id", .text = "the system's thread id, the stream's number"});
  columns.number(&Track::sort_index, {.name = "sort_index", .text = "where the recorder wants it shown"});
  columns.number(&Track::first_event, {.name = "first_event", .text = "its events follow one another from here on"});
  columns.number(&Track::event_count, {.name = "events", .text = "how many"});
}
static_assert(describes_all_members<Track>);

struct Device {
  DeviceId id = 0;
  std::string name;  // empty when the file does not say
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> compute_major, compute_minor;
  std::optional<int> multiprocessors, warp_size;
  std::optional<int> max_threads_per_multiprocessor;
  std::optional<std::int64_t> registers_per_multiprocessor, shared_memory_per_multiprocessor;
};
constexpr void describe(auto& columns, RowOf<Device>) {
  columns.number(&Device::id, {.name = "device", .text = "as the recorder numbers them"});
  columns.words(&Device::name, {.name = "name", .text = "`NVIDIA H200`"});
  columns.maybe(&Device::memory_bytes, {.name = "memory_bytes", .text = "in all", .unit = Unit::kBytes});
  columns.maybe(&Device::compute_major, {.name = "compute_major", .text = "compute capability, before the point"});
  columns.maybe(&Device::compute_minor, {.name = "compute_minor", .text = "likewise, behind it"});
  columns.maybe(&Device::multiprocessors, {.name = "multiprocessors", .text = "how many"});
  columns.maybe(&Device::warp_size, {.name = "warp_size", .text = "threads in a warp"});
  columns.maybe(&Device::max_threads_per_multiprocessor,
                {.name = "max_threads_per_multiprocessor", .text = "that can be resident"});
  columns.maybe(&Device::registers_per_multiprocessor, {.name = "registers_per_multiprocessor", .text = "of 32 bits"});
  columns.maybe(&Device::shared_memory_per_multiprocessor,
                {.name = "shared_memory_per_multiprocessor", .text = "for all its blocks", .unit = Unit::kBytes});
}
static_assert(describes_all_members<Device>);

}  // namespace telltale
