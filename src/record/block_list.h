// A list that only grows and whose elements never move: one thread at a time appends, any thread reads what was
// appended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/pages.h"

namespace telltale::record {

template <typename Element, std::size_t kBlockElements, std::size_t kBlocks>
class BlockList {
 public:
  static constexpr std::size_t kCapacity = kBlockElements * kBlocks;

  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  const Element& operator[](std::size_t i) const { return blocks_[i / kBlockElements][i % kBlockElements]; }
  Element& operator[](std::size_t i) { return blocks_[i / kBlockElements][i % kBlockElements]; }

  // False when the list is full or there is no memory.
  bool append(const Element& element) {
    const std::uint32_t i = size_.load(std::memory_order_relaxed);
    if (i >= kCapacity) return false;
    Element*& block = blocks_[i / kBlockElements];
    if (block == nullptr) block = static_cast<Element*>(map_pages(kBlockElements * sizeof(Element)));
    if (block == nullptr) return false;
    block[i % kBlockElements] = element;
    size_.store(i + 1, std::memory_order_release);
    return true;
  }

 private:
  Element* blocks_[kBlocks] = {};
  std::atomic<std::uint32_t> size_ = 0;
};

}  // namespace telltale::record
