// What torch's caching allocators do, entry by entry, as records that docs/formats/tell.md describes.
//
// CUDA's allocator reports under its own lock, on whatever thread uses it: a record is written, and nothing is called
// that could wait for Python or for torch. It cannot be asked to stop; what it says outside of recordings is ignored.
// Stacks are those of the operators around the entries.
#pragma once

#include <telltale/telltale.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#ifdef TELLTALE_WITH_CUDA  // set where the CUDA headers are, which torch's own need
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace telltale::torch_adapter {

inline std::atomic<bool> is_memory_wanted = false;

constexpr std::int32_t kHostDevice = -1;

// Numbers are part of the file format.
enum class AllocatorAction : std::uint8_t {
  kAllocate = 0,
  kFreeRequested = 1,
  kFreeCompleted = 2,
  kSegmentAllocate = 3,
  kSegmentFree = 4,
  kSegmentMap = 5,
  kSegmentUnmap = 6,
  kOutOfMemory = 7,
  kSnapshot = 8,
  kState = 9,  // the snapshot that this recording writes down
};

struct AllocatorEntry {
  AllocatorAction action;
  std::uint64_t address;
  std::uint64_t bytes;
  std::int32_t device;
  std::uint64_t stream;
  std::uint32_t pool;  // from telltale_intern(); 0: the usual ones
};

inline telltale_site* allocator_event_site() {
  static constexpr telltale_field kFields[] = {
      {"Action", TELLTALE_FIELD_TYPE_INTEGER, 0}, {"Addr", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Bytes", TELLTALE_FIELD_TYPE_INTEGER, 0},  {"Device", TELLTALE_FIELD_TYPE_INTEGER, 0},
      {"Stream", TELLTALE_FIELD_TYPE_INTEGER, 0}, {"Pool", TELLTALE_FIELD_TYPE_NAME, 0}};
  static telltale_site* const site = [] {
    telltale_site description = {};
    description.name = "allocator event";
    description.fields = kFields;
    description.field_count = std::size(kFields);
    description.kind = TELLTALE_KIND_OTHER;
    return telltale_make_site(&description);
  }();
  return site;
}

inline void tell_allocator_event(const AllocatorEntry& entry) {
  if (!telltale_is_recording()) return;
  telltale_value values[6];
  values[0].integer = static_cast<std::int64_t>(entry.action);
  values[1].integer = static_cast<std::int64_t>(entry.address);
  values[2].integer = static_cast<std::int64_t>(entry.bytes);
  values[3].integer = entry.device;
  values[4].integer = static_cast<std::int64_t>(entry.stream);
  values[5].integer = entry.pool;
  telltale_instant(allocator_event_site(), values);
}

// Set while this thread takes the snapshot that the recording writes down, so that its mark in the log is known.
inline thread_local bool is_state_taken_here = false;

#ifdef TELLTALE_WITH_CUDA
// Of a private pool, such as a CUDA graph's: "1.0". Torch's entries have it since 2.6.
template <typename Entry>
std::uint32_t pool_of(const Entry& entry) {
  if constexpr (requires { entry.mempool_.second; }) {
    if (entry.mempool_.first == 0 && entry.mempool_.second == 0) return 0;
    thread_local auto last = entry.mempool_;
    thread_local std::uint32_t name = 0;
    if (name == 0 || last != entry.mempool_) {
      last = entry.mempool_;
      name = telltale_intern((std::to_string(last.first) + "." + std::to_string(last.second)).c_str());
    }
    return name;
  } else {
    return 0;
  }
}

template <typename Entry>
AllocatorAction action_of(const Entry& entry) {
  switch (entry.action_) {
    case Entry::ALLOC:
      return AllocatorAction::kAllocate;
    case Entry::FREE_REQUESTED:
      return AllocatorAction::kFreeRequested;
    case Entry::FREE_COMPLETED:
      return AllocatorAction::kFreeCompleted;
    case Entry::SEGMENT_ALLOC:
      return AllocatorAction::kSegmentAllocate;
    case Entry::SEGMENT_FREE:
      return AllocatorAction::kSegmentFree;
    case Entry::SEGMENT_MAP:
      return AllocatorAction::kSegmentMap;
    case Entry::SEGMENT_UNMAP:
      return AllocatorAction::kSegmentUnmap;
    case Entry::OOM:
      return AllocatorAction::kOutOfMemory;
    default:
      return is_state_taken_here ? AllocatorAction::kState : AllocatorAction::kSnapshot;
  }
}

inline void on_cuda_memory(const c10::cuda::CUDACachingAllocator::TraceEntry& entry) {
  if (!is_memory_wanted.load(std::memory_order_relaxed)) return;
  tell_allocator_event({action_of(entry), static_cast<std::uint64_t>(entry.addr_),
                        static_cast<std::uint64_t>(entry.size_), entry.device_,
                        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(entry.stream_)), pool_of(entry)});
}

// The allocators of devices exist once CUDA is initialized; before, there is nothing to watch. False where there is
// none, or one without a log, such as CUDA's own.
inline bool watch_cuda_memory() {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  enum class Watched : std::uint8_t { kNotYet, kYes, kNever };
  static std::atomic<Watched> watched = Watched::kNotYet;
  try {
    if (!allocator::get()->initialized()) return false;
    auto expected = Watched::kNotYet;
    if (watched.compare_exchange_strong(expected, Watched::kYes))
      allocator::attachAllocatorTraceTracker(&on_cuda_memory);
  } catch (...) {
    watched = Watched::kNever;
  }
  return watched == Watched::kYes;
}
#else
inline bool watch_cuda_memory() { return false; }
#endif

}  // namespace telltale::torch_adapter
