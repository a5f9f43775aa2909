#include "capture/cuda/activity_buffers.h"

#include <algorithm>
#include <new>
#include <utility>

namespace telltale::capture {

void ActivityBuffers::begin(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  most_ = std::max<std::size_t>(bytes / kBytes, 4);
}

void ActivityBuffers::end() {
  const std::lock_guard held(mutex_);
  most_ = 0;
  if (free_.size() + full_.size() < all_.size()) return;  // CUPTI still holds one, and may write to it
  full_.clear();
  free_.clear();
  all_.clear();
}

std::uint8_t* ActivityBuffers::hand_out() {
  const std::lock_guard held(mutex_);
  if (free_.empty() && all_.size() < most_) {
    // operator new aligns to 16 bytes, CUPTI wants 8.
    std::unique_ptr<std::uint8_t[]> buffer(new (std::nothrow) std::uint8_t[kBytes]);
    if (buffer == nullptr) return nullptr;
    free_.push_back(buffer.get());
    all_.push_back(std::move(buffer));
  }
  if (free_.empty()) return nullptr;
  std::uint8_t* data = free_.back();
  free_.pop_back();
  return data;
}

void ActivityBuffers::take_back(const FullBuffer& buffer) {
  const std::lock_guard held(mutex_);
  full_.push_back(buffer);
}

std::vector<FullBuffer> ActivityBuffers::full() {
  const std::lock_guard held(mutex_);
  return std::exchange(full_, {});
}

void ActivityBuffers::reuse(const FullBuffer& buffer) {
  const std::lock_guard held(mutex_);
  free_.push_back(buffer.data);
}

}  // namespace telltale::capture
