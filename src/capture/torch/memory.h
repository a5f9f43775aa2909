// Memory on the host, as torch's allocator gets it and gives it back.
//
// The allocator is replaced by one that asks it and tells the recorder; memory that was got while this one stood there
// is given back through it, also after the recording.
#pragma once

#include <c10/core/CPUAllocator.h>
#include <telltale/telltale.h>
#include <torch/csrc/api/include/torch/version.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "allocator_log.h"

// c10::Allocator::allocate() lost its const in 2.3, and allocators learnt to copy.
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 3
#define TELLTALE_OLD_ALLOCATOR 1
#define TELLTALE_ALLOCATE_CONST const
#else
#define TELLTALE_OLD_ALLOCATOR 0
#define TELLTALE_ALLOCATE_CONST
#endif

namespace telltale::torch_adapter {

// How large the blocks are that were got during this recording. Many threads allocate at once: a lock for each part.
class BlockSizes {
 public:
  void add(void* block, std::size_t size) {
    Part& part = part_of(block);
    const std::lock_guard lock(part.mutex);
    part.sizes[block] = size;
  }

  // 0 when it is not known.
  std::size_t take(void* block) {
    Part& part = part_of(block);
    const std::lock_guard lock(part.mutex);
    const auto found = part.sizes.find(block);
    if (found == part.sizes.end()) return 0;
    const std::size_t size = found->second;
    part.sizes.erase(found);
    return size;
  }

  void clear() {
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      part.sizes.clear();
    }
  }

  // Around fork(): what another thread holds would stay locked in the child for ever.
  void lock() {
    for (Part& part : parts_) part.mutex.lock();
  }
  void unlock() {
    for (Part& part : parts_) part.mutex.unlock();
  }

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<void*, std::size_t> sizes;
  };

  Part& part_of(const void* block) {
    return parts_[reinterpret_cast<std::uintptr_t>(block) >> 6 & (parts_.size() - 1)];
  }

  std::array<Part, 64> parts_;
};

class HostAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) TELLTALE_ALLOCATE_CONST override {
    c10::DataPtr block = allocated_by_inner(bytes);
    if (bytes > 0 && is_memory_wanted.load(std::memory_order_relaxed) && telltale_is_recording()) {
      sizes_.add(block.get(), bytes);
      tell(block.get(), static_cast<std::int64_t>(bytes));
    }
    // The context stays the block itself, as callers of raw_deleter() rely on.
    static_cast<void>(block.compare_exchange_deleter(inner_->raw_deleter(), &give_back));
    return block;
  }

  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }

#if !TELLTALE_OLD_ALLOCATOR
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
#endif

  // False when the host's allocator is one whose blocks cannot be told by their address.
  bool install() {
    if (inner_ == nullptr) {
      c10::Allocator* found = c10::GetCPUAllocator();
      if (found->raw_deleter() == nullptr) return false;
      inner_ = found;
    }
    allocated_.store(0);
    sizes_.clear();
    c10::SetCPUAllocator(this, kPriority);
    return true;
  }

  // Someone may have put another allocator in our place meanwhile.
  void uninstall() {
    if (inner_ != nullptr && c10::GetCPUAllocator() == this) c10::SetCPUAllocator(inner_, kPriority);
    sizes_.clear();
  }

  BlockSizes& sizes() { return sizes_; }

  static HostAllocator& instance() {
    static auto* const allocator = new HostAllocator;  // for ever: blocks of it may outlive everything
    return *allocator;
  }

 private:
  static constexpr std::uint8_t kPriority = 255;

  static void give_back(void* block) {
    HostAllocator& self = instance();
    if (is_memory_wanted.load(std::memory_order_relaxed)) {
      if (const std::size_t bytes = self.sizes_.take(block); bytes > 0)
        self.tell(block, -static_cast<std::int64_t>(bytes));
    }
    self.inner_->raw_deleter()(block);
  }

  c10::DataPtr allocated_by_inner(std::size_t bytes) const {
    try {
      return inner_->allocate(bytes);
    } catch (...) {
      if (is_memory_wanted.load(std::memory_order_relaxed))
        tell_allocator_event({AllocatorAction::kOutOfMemory, 0, bytes, kHostDevice, 0, 0});
      throw;
    }
  }

  void tell(const void* block, std::int64_t bytes) const {
    const std::int64_t total = allocated_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const telltale_memory event = {reinterpret_cast<std::uint64_t>(block), bytes, kHostDevice, 0, total, 0};
    telltale_allocation(&event);
  }

  c10::Allocator* inner_ = nullptr;
  mutable BlockSizes sizes_;
  mutable std::atomic<std::int64_t> allocated_ = 0;  // of what was got during this recording
};

}  // namespace telltale::torch_adapter
