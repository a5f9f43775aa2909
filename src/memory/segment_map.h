// The segments that PyTorch's allocator holds at a time, and what stands in them by address.
//
// Pure and thread-safe; as long as replaying the log until then.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "memory/memory_uses.h"
#include "trace/trace.h"

namespace telltale {

struct MappedBlock {
  std::int64_t offset = 0;  // within its segment
  std::int64_t bytes = 0;
  std::optional<MemoryUse> use;  // nothing: free
  BlockState state = BlockState::kInactive;
  StringId call_stack = kEmptyString;  // that made it, where the log has it
  std::optional<std::size_t> block;    // its place in the blocks that say what each is for
};

struct MappedSegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t used = 0;
  std::uint64_t stream = 0;
  StringId pool = kEmptyString;
  std::vector<MappedBlock> blocks;  // by address; they fill it
};

// By address. Empty where no log was recorded for the device. `blocks` say what each is for.
std::vector<MappedSegment> segment_map(const Trace& trace, DeviceId device, Nanoseconds time,
                                       std::span<const UsedBlock> blocks);

}  // namespace telltale
