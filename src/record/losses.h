// How many records were not recorded, by reason.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "tell/layout.h"

namespace telltale::record {

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

}  // namespace telltale::record
