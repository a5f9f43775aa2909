#include "trace/allocator_log.h"

namespace telltale {

std::string_view name_of(AllocatorAction action) {
  switch (action) {
    case AllocatorAction::kAllocate:
      return "allocate";
    case AllocatorAction::kFreeRequested:
      return "free_requested";
    case AllocatorAction::kFreeCompleted:
      return "free_completed";
    case AllocatorAction::kSegmentAllocate:
      return "segment_allocate";
    case AllocatorAction::kSegmentFree:
      return "segment_free";
    case AllocatorAction::kSegmentMap:
      return "segment_map";
    case AllocatorAction::kSegmentUnmap:
      return "segment_unmap";
    case AllocatorAction::kOutOfMemory:
      return "out_of_memory";
    case AllocatorAction::kSnapshot:
      return "snapshot";
  }
  return "";
}

std::string_view name_of(BlockState state) {
  switch (state) {
    case BlockState::kInactive:
      return "inactive";
    case BlockState::kAllocated:
      return "allocated";
    case BlockState::kAwaitingFree:
      return "awaiting_free";
  }
  return "";
}

}  // namespace telltale
