// Which blocks are what a leak left behind: made within a step by a line that leaves more behind with every step, and
// still there when the last one ends.
//
// Refers to the trace it was made from. Pure and thread-safe; a look costs the block's line.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/memory_map.h"
#include "memory/memory_leaks.h"
#include "memory/memory_uses.h"

namespace telltale {

class LeakedBlocks {
 public:
  // Of one device; `step_ends` are those by which the leaks were told.
  LeakedBlocks(const Trace& trace, DeviceId device, std::span<const MemoryLeak> leaks,
               std::span<const Nanoseconds> step_ends);

  // When the step ended that left the block behind; nothing where none did.
  std::optional<Nanoseconds> since(const UsedBlock& block) const;
  // Sets UsedBlock::left_behind, and is_left_behind of what steps before that time left.
  void mark(std::span<UsedBlock> blocks, Nanoseconds time) const;

 private:
  const Trace& trace_;
  std::span<const Nanoseconds> step_ends_;
  std::set<std::tuple<std::string, int>> lines_;
};

// The same of all that grows over the steps of the trace or, where it has none, over those that its log tells.
void mark_left_behind(const Trace& trace, const DeviceMemory& device, std::span<UsedBlock> blocks);

}  // namespace telltale
