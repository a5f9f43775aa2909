// A rule that frees memory: asked where it is scarce, or where somebody asks about memory.
//
// They are a list of their own beside rules/: they look at what stands in memory at its peak, promise bytes in place of
// time, and say what that costs in time where a replay can tell. What each needs is memory events, and what its text
// says.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "advise/facts.h"
#include "advise/finding.h"
#include "advise/rule_info.h"
#include "memory/memory_causes.h"
#include "memory/memory_edit.h"

namespace telltale {

// What they propose beside kFixIds.
inline constexpr auto kMemoryFixIds =
    std::to_array<std::string_view>({"checkpoint", "smaller_optimizer_state", "shard_optimizer", "free_gradients",
                                     "accumulate", "allocator_settings", "offload", "one_stream", "allocate_first"});

struct MemoryRule {
  RuleInfo info;
  // `device` is the one with the largest peak, without what leaks: that has a fix of its own. `blocks` are all that it
  // ever had. A finding's saving_bytes is what that peak loses.
  std::vector<Finding> (*find)(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks);
  // What the fix of one of these findings does to the blocks. What it would do to those of a leak is left out.
  MemoryEdit (*edit)(const Facts& facts, const DeviceCauses& device, const Finding& finding,
                     std::span<const UsedBlock> blocks);
};

// One function a file in memory_rules/. Its id is its name, and need not be filled in.
namespace memory_rules {
#define TELLTALE_MEMORY_RULE(name) MemoryRule name();
#include "advise/memory_rules/list.inc"
#undef TELLTALE_MEMORY_RULE
}  // namespace memory_rules

// All of them, in the order of the list. Thread-safe.
std::span<const MemoryRule> all_memory_rules();
std::span<const RuleInfo> memory_rule_infos();

// What frees a smaller share of the peak is not worth a change of the program.
inline constexpr double kLeastShareFreed = 0.05;
bool is_worth_freeing(const DeviceCauses& device, std::int64_t bytes);

// How much lower the peak of these blocks is with the edit, which leaves those of a leak alone.
std::int64_t peak_lowered_by(const MemoryEdit& edit, std::span<const UsedBlock> blocks);

// What the optimizer's step makes and frees again.
bool is_temporary_of_optimizer(const Facts& facts, const UsedBlock& block);

// What stands at the peak for one purpose.
std::int64_t bytes_for(const DeviceCauses& device, MemoryUse use);

}  // namespace telltale
