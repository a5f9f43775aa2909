// Stands in for torch's header of that name, so that the adapter can be tested where there is no CUDA: an allocator
// that holds nothing and reports what a test tells it to, under a lock for each device as the real one does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace c10::cuda::CUDACachingAllocator {

struct TraceEntry {
  enum Action {
    ALLOC,
    FREE_REQUESTED,
    FREE_COMPLETED,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    SNAPSHOT,
    OOM
  };
  Action action_;
  int device_;
  std::size_t addr_;
  void* stream_;
  std::size_t size_;
  std::pair<unsigned long long, unsigned long long> mempool_;
};

using AllocatorTraceTracker = std::function<void(const TraceEntry&)>;

class FakeAllocator {
 public:
  bool initialized() const { return device_count_ > 0; }
  void init(int device_count) { device_count_ = device_count; }

  // Only devices that are there hear of it.
  void attach(AllocatorTraceTracker tracker) {
    for (int device = 0; device < device_count_; ++device) trackers_[device].push_back(tracker);
  }
  void report(const TraceEntry& entry) {
    const std::lock_guard lock(mutexes_[entry.device_]);
    for (const AllocatorTraceTracker& tracker : trackers_[entry.device_]) tracker(entry);
  }

 private:
  static constexpr int kMostDevices = 2;
  int device_count_ = 0;
  std::mutex mutexes_[kMostDevices];
  std::vector<AllocatorTraceTracker> trackers_[kMostDevices];
};

inline FakeAllocator* get() {
  static FakeAllocator allocator;
  return &allocator;
}

inline void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) { get()->attach(std::move(tracker)); }

}  // namespace c10::cuda::CUDACachingAllocator

extern "C" {
__attribute__((visibility("default"), used)) inline void fake_init(int device_count) {
  c10::cuda::CUDACachingAllocator::get()->init(device_count);
}

__attribute__((visibility("default"), used)) inline void fake_report(int action, int device, std::uint64_t address,
                                                                     std::uint64_t size, std::uint64_t stream,
                                                                     std::uint64_t pool) {
  using Entry = c10::cuda::CUDACachingAllocator::TraceEntry;
  Entry entry = {static_cast<Entry::Action>(action), device, address, reinterpret_cast<void*>(stream), size, {pool, 0}};
  c10::cuda::CUDACachingAllocator::get()->report(entry);
}
}
