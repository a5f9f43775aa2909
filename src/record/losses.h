// How many records were not recorded, by reason, and how the user is told.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tell/layout.h"

namespace telltale::record {

// Counts from any thread, signal handlers included; reset() only while nobody counts.
class Losses {
 public:
  void add(tell::LossReason reason, std::uint64_t records) {
    counts_[static_cast<std::size_t>(reason)].fetch_add(records, std::memory_order_relaxed);
  }
  std::uint64_t count(tell::LossReason reason) const {
    return counts_[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }
  void reset() {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, tell::kLossReasonCount> counts_{};
};

struct Loss {
  tell::LossReason reason;
  std::uint64_t events;
  const char* path;            // of the file that lacks them
  std::uint64_t memory_limit;  // bytes
  int error;                   // errno of what could not be written
};

// What an errno of the file means to the user.
const char* why_not_written(int error);

// One sentence, cut to `size` bytes. False when there is nothing to tell: no event, or none that was lost.
bool loss_sentence(const Loss& loss, char* sentence, std::size_t size);

}  // namespace telltale::record
