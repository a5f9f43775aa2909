// The log of PyTorch's caching allocators, where it was recorded: what they held when it begins, and what they did
// then.
//
// Trace::memory says what programs got and gave back; this says where it came from: which segment, which stream, which
// call. Both come from the same events where a file has the log. State after the log follows from replaying it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/interned_strings.h"
#include "base/time.h"
#include "trace/columns.h"
#include "trace/places.h"
#include "trace/side_table.h"

namespace telltale {

enum class AllocatorAction : std::uint8_t {
  kAllocate,
  kFreeRequested,  // the program gave the block back; work of other streams may still use it
  kFreeCompleted,  // the allocator may use it again
  kSegmentAllocate,
  kSegmentFree,
  kSegmentMap,  // more of an expandable segment has memory behind it
  kSegmentUnmap,
  kOutOfMemory,
  kSnapshot,  // somebody asked for one here
};
std::string_view name_of(AllocatorAction action);
inline constexpr AllocatorAction kAllocatorActions[] = {
    AllocatorAction::kAllocate,        AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted,
    AllocatorAction::kSegmentAllocate, AllocatorAction::kSegmentFree,   AllocatorAction::kSegmentMap,
    AllocatorAction::kSegmentUnmap,    AllocatorAction::kOutOfMemory,   AllocatorAction::kSnapshot};

// Rows are in the order in which the allocator did them; those of a device never go back in time.
struct AllocatorEvent {
  Nanoseconds time = 0;
  std::uint64_t address = 0;  // when out of memory: how many bytes the device had free
  std::int64_t bytes = 0;     // of blocks what the program asked for, of segments what the allocator got
  std::uint64_t stream = 0;   // CUDA's handle; 0: the default stream
  DeviceId device = 0;
  StringId pool = kEmptyString;        // of a private one, such as a CUDA graph's: "1.0"
  StringId call_stack = kEmptyString;  // frames joined by ";", innermost first: "model.py(12): forward"
  EventId event = kNoEvent;            // the innermost one open on the thread that did it
  AllocatorAction action = AllocatorAction::kAllocate;
};
constexpr void describe(auto& columns, RowOf<AllocatorEvent>) {
  using Row = AllocatorEvent;
  columns.number(&Row::time,
                 {.name = "time_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds, .rises = true});
  columns.number(&Row::address,
                 {.name = "address", .text = "of the block or segment; out of memory: bytes that the device had free"});
  columns.number(&Row::bytes, {.name = "bytes",
                               .text = "of blocks what was asked for, of segments what the allocator got",
                               .unit = Unit::kBytes});
  columns.number(&Row::stream, {.name = "stream", .text = "CUDA's handle; 0: the default stream"});
  columns.number(&Row::device, {.name = "device", .text = "whose memory it is"});
  columns.text(&Row::pool, {.name = "pool", .text = "of a private one, such as a CUDA graph's"});
  columns.text(&Row::call_stack, {.name = "call_stack", .text = "frames joined by `;`, innermost first"});
  columns.event(&Row::event, {.name = "event", .text = "the innermost one open on the thread that did it"});
  columns.choice(&Row::action, kAllocatorActions,
                 {.name = "action", .text = "`allocate`, `free_requested` and others"});
}
static_assert(describes_all_members<AllocatorEvent>);

// A piece of device memory that an allocator held when the log begins.
struct MemorySegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  DeviceId device = 0;
  StringId pool = kEmptyString;
  StringId call_stack = kEmptyString;
  std::int8_t is_large = 0;  // of the pool for requests over 1 MiB
  std::int8_t is_expandable = 0;
};
constexpr void describe(auto& columns, RowOf<MemorySegment>) {
  using Row = MemorySegment;
  columns.number(&Row::address, {.name = "address", .text = "of its first byte"});
  columns.number(&Row::bytes, {.name = "bytes", .text = "that it has", .unit = Unit::kBytes});
  columns.number(&Row::stream, {.name = "stream", .text = "whose allocations it serves"});
  columns.number(&Row::device, {.name = "device", .text = "whose memory it is"});
  columns.text(&Row::pool, {.name = "pool", .text = "of a private one, such as a CUDA graph's"});
  columns.text(&Row::call_stack, {.name = "call_stack", .text = "frames joined by `;`, innermost first"});
  columns.truth(&Row::is_large, {.name = "is_large", .text = "of the pool for requests over 1 MiB"});
  columns.truth(&Row::is_expandable, {.name = "is_expandable", .text = "can grow"});
}
static_assert(describes_all_members<MemorySegment>);

enum class BlockState : std::uint8_t { kInactive, kAllocated, kAwaitingFree };
std::string_view name_of(BlockState state);
inline constexpr BlockState kBlockStates[] = {BlockState::kInactive, BlockState::kAllocated, BlockState::kAwaitingFree};

// A part of such a segment, by segment and address; the parts of a segment touch and fill it.
struct MemoryBlock {
  std::uint32_t segment = 0;  // index of Trace::memory_segments
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested = 0;  // what the program asked for; 0 of inactive ones
  StringId call_stack = kEmptyString;
  BlockState state = BlockState::kInactive;
};
constexpr void describe(auto& columns, RowOf<MemoryBlock>) {
  using Row = MemoryBlock;
  columns.index(&Row::segment, RowOf<MemorySegment>{}, {.name = "segment", .text = "what it is a part of"});
  columns.number(&Row::address, {.name = "address", .text = "of its first byte", .rises = true});
  columns.number(&Row::bytes, {.name = "bytes", .text = "that it has", .unit = Unit::kBytes});
  columns.number(&Row::requested, {.name = "requested", .text = "what was asked for", .unit = Unit::kBytes});
  columns.text(&Row::call_stack, {.name = "call_stack", .text = "frames joined by `;`, innermost first"});
  columns.choice(&Row::state, kBlockStates, {.name = "state", .text = "`inactive`, `allocated`, `awaiting_free`"});
}
static_assert(describes_all_members<MemoryBlock>);

// A tensor of which the program says what it is: its storage lived at that time.
struct NotedTensor {
  Nanoseconds time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  DeviceId device = kHost;
  StringId role = kEmptyString;  // "parameter", "gradient", "optimizer_state", "input", "buffer", "kv_cache"
  StringId name = kEmptyString;  // "layers.0.weight"
};
constexpr void describe(auto& columns, RowOf<NotedTensor>) {
  using Row = NotedTensor;
  columns.number(&Row::time,
                 {.name = "time_ns", .text = "from the start of the trace", .unit = Unit::kNanoseconds, .rises = true});
  columns.number(&Row::address, {.name = "address", .text = "of its storage"});
  columns.number(&Row::bytes, {.name = "bytes", .text = "of its storage", .unit = Unit::kBytes});
  columns.number(&Row::device, {.name = "device", .text = "null: the host", .null = Null::kHost});
  columns.text(&Row::role, {.name = "role", .text = "`parameter`, `gradient`, `optimizer_state` and others"});
  columns.text(&Row::name, {.name = "name", .text = "as the program calls it: `layers.0.weight`"});
}
static_assert(describes_all_members<NotedTensor>);

}  // namespace telltale
