// What the allocators hold when the log ends.
#pragma once

#include <map>

#include "formats/memory_snapshot/allocator_state.h"
#include "trace/trace.h"

namespace telltale::memory_snapshot {

// By device. Blocks have the sizes that Trace::memory has of them; entries that do not fit are passed over.
std::map<DeviceId, AllocatorState> final_states(const Trace& trace);

}  // namespace telltale::memory_snapshot
