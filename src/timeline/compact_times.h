// Lists of times that take half the room of 64-bit numbers: 32 bits where a number is near its neighbors or short, and
// a place in a second list where it is not.
//
// Not thread-safe while values are added; any number of threads may read a list that nobody changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"

namespace telltale {

// Durations: none is negative.
class CompactDurations {
 public:
  void push_back(Nanoseconds duration) {
    if (duration >= kElsewhere) {
      long_.emplace_back(short_.size(), duration);
      duration = kElsewhere;
    }
    short_.push_back(static_cast<std::uint32_t>(duration));
  }

  Nanoseconds operator[](std::size_t i) const {
    if (short_[i] != kElsewhere) return short_[i];
    return std::ranges::lower_bound(long_, i, {}, &std::pair<std::size_t, Nanoseconds>::first)->second;
  }
  std::size_t size() const { return short_.size(); }

  void shrink_to_fit() {
    short_.shrink_to_fit();
    long_.shrink_to_fit();
  }
  std::size_t memory_bytes() const {
    return short_.capacity() * sizeof(std::uint32_t) + long_.capacity() * sizeof(std::pair<std::size_t, Nanoseconds>);
  }

 private:
  static constexpr std::uint32_t kElsewhere = UINT32_MAX;
  std::vector<std::uint32_t> short_;
  std::vector<std::pair<std::size_t, Nanoseconds>> long_;  // by place
};

// Times that ascend: every sixteenth as it is, the others by how far they lie behind it.
class CompactTimes {
 public:
  void push_back(Nanoseconds time) {
    if (size() % kBlock == 0) first_.push_back(time);
    behind_.push_back(time - first_.back());
  }

  Nanoseconds operator[](std::size_t i) const { return first_[i / kBlock] + behind_[i]; }
  std::size_t size() const { return behind_.size(); }

  // The place of the first one, from `begin` on, that is not before `time`.
  std::size_t first_from(Nanoseconds time, std::size_t begin = 0) const {
    std::size_t low = begin, high = size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if ((*this)[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  void shrink_to_fit() {
    first_.shrink_to_fit();
    behind_.shrink_to_fit();
  }
  std::size_t memory_bytes() const { return first_.capacity() * sizeof(Nanoseconds) + behind_.memory_bytes(); }

 private:
  static constexpr std::size_t kBlock = 16;
  std::vector<Nanoseconds> first_;
  CompactDurations behind_;
};

}  // namespace telltale
