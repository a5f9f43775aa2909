// Calls that waited for room in the queue of a stream.
//
// A driver holds so many launches of a stream; the next one waits until one of them has begun. In a step that the
// device sets the pace of, most of the host's time goes by in such calls, which is no work of the host. They are told
// by two signs: all stand at the same depth, the deepest there is, and they take far longer than others of their name.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "trace/trace.h"

namespace telltale {

class FullQueue {
 public:
  // The trace must outlive it. Linear in events, but for a binary search for each launch.
  explicit FullQueue(const Trace& trace);

  // Launches of one stream that can wait; where the queue was never seen full, what CUDA's drivers hold.
  std::uint32_t capacity() const { return capacity_; }
  bool was_full() const { return !own_time_.empty(); }

  // What the call takes itself, where it waited for room; null for others.
  const Nanoseconds* own_time_of(EventId call) const {
    const auto found = own_time_.find(call);
    return found == own_time_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr std::uint32_t kUsualCapacity = 1024;

  std::uint32_t capacity_ = kUsualCapacity;
  std::unordered_map<EventId, Nanoseconds> own_time_;
};

}  // namespace telltale
