// What the allocators held when their logs begin, and what programs got and gave back since then.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/memory_snapshot/allocator_state.h"
#include "trace/anomalies.h"
#include "trace/event_batch.h"

namespace telltale::memory_snapshot {

// Takes the entries of one device back, the newest first: `state` is then what stood before the oldest. Returns the
// size of the block that each entry allocates; 0 of those that allocate nothing.
std::vector<std::int64_t> rewind(const std::vector<AllocatorEvent>& entries, AllocatorState& state,
                                 Anomalies& anomalies);

// Allocations and frees, each with the totals after it. A block counts as free once its program asks for that, as it
// does in PyTorch's own statistics. Rows lack their track.
std::vector<BatchMemoryEvent> memory_rows(const std::vector<AllocatorEvent>& entries,
                                          const std::vector<std::int64_t>& block_bytes, const AllocatorState& start);

}  // namespace telltale::memory_snapshot
