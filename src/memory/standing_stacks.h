// What stands in memory at a time by the calls that made it, as a tree for flame graphs: which code the bytes belong
// to.
//
// By stack, calls are those that were recorded around the allocation and, where the allocator's log has a stack and no
// Python call was recorded, the frames of that. By module, only modules are calls; what runs backward belongs to the
// module of its forward operator. What was made before the recording, and nothing tells by whom, stands apart. Stacks
// end at 200 calls.
//
// Pure and thread-safe; linear in blocks and the depth of their calls, but for sorting.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/flame_tree.h"
#include "memory/memory_uses.h"
#include "trace/trace.h"

namespace telltale {

// A device's memory at a time.
struct StandingBlocks {
  std::string device;                 // the outermost frame; none when it is empty
  std::int64_t allocated = 0;         // what is allocated then; what no block accounts for was there before
  std::span<const UsedBlock> blocks;  // those that stand there
};

struct StandingStacks {
  std::vector<std::string> names;
  FlameTree tree;  // `name` of a node is its place in names
};

inline constexpr std::string_view kFromBefore = "from before the recording";

// `options.weight` is bytes.
StandingStacks standing_stacks(const Trace& trace, std::span<const StandingBlocks> devices,
                               const FlameOptions& options);

}  // namespace telltale
