// What the fixes of rules/ that are about memory do to it, and how many bytes of the peak they free: memory that leaks
// is freed with its step, a spike is made in pieces, segments grow, and the cache is kept.
//
// What memory_rules/ find has its own edits: see MemoryRule.
#pragma once

#include <span>

#include "advise/facts.h"
#include "advise/finding.h"
#include "memory/memory_causes.h"
#include "memory/memory_edit.h"

namespace telltale {

// Empty where it is not known which blocks the fix would change. `blocks` are all of the device.
MemoryEdit edit_for(const Facts& facts, const DeviceCauses& device, const Finding& finding,
                    std::span<const UsedBlock> blocks);

// How much lower the peak is with the edit: of what is reserved where the edit is about the allocator, else of what is
// allocated. 0 where it is no lower, or where the allocator's log, which that takes, was not recorded.
std::int64_t bytes_saved_by(const Facts& facts, const DeviceCauses& device, const MemoryEdit& edit,
                            std::span<const UsedBlock> blocks);

}  // namespace telltale
