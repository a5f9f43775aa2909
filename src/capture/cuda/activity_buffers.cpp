#include "capture/cuda/activity_buffers.h"

#include <algorithm>
#include <new>
#include <utility>

namespace telltale::capture {

void ActivityBuffers::begin() {
  const std::lock_guard held(mutex_);
  const auto has_come_back = [&](const std::unique_ptr<std::uint8_t[]>& buffer) {
    return std::ranges::find(free_, buffer.get()) != free_.end() ||
           std::ranges::find(full_, buffer.get(), &FullBuffer::data) != full_.end();
  };
  for (std::unique_ptr<std::uint8_t[]>& buffer : all_)
    if (!has_come_back(buffer)) of_before_.push_back(std::move(buffer));
  full_.clear();
  free_.clear();
  all_.clear();
}

void ActivityBuffers::allow(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  most_ = std::max<std::size_t>(bytes / kBytes, 4);
  const std::size_t most_ever = std::max(most_, all_.size());
  all_.reserve(most_ever);
  free_.reserve(most_ever);
  full_.reserve(most_ever);
  read_.reserve(most_ever);
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
  const auto is_it = [&](const std::unique_ptr<std::uint8_t[]>& one) { return one.get() == buffer.data; };
  if (std::ranges::any_of(all_, is_it))
    full_.push_back(buffer);
  else
    std::erase_if(of_before_, is_it);
}

std::span<const FullBuffer> ActivityBuffers::full() {
  const std::lock_guard held(mutex_);
  read_.clear();
  full_.swap(read_);
  return read_;
}

void ActivityBuffers::reuse(const FullBuffer& buffer) {
  const std::lock_guard held(mutex_);
  free_.push_back(buffer.data);
}

}  // namespace telltale::capture
