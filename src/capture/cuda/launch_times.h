// When the calls began whose device work is still to come: no kernel starts before its launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace telltale::capture {

// Of the newest calls, as many as there is room for. Threads that launch write, one thread reads.
class LaunchTimes {
 public:
  LaunchTimes() : slots_(std::make_unique<Slot[]>(kSlots)) {}

  // CUPTI has been attached again.
  void begin_anew() { first_.store(kNone, std::memory_order_relaxed); }

  void note(std::uint64_t correlation, std::uint64_t ticks) {
    if (first_.load(std::memory_order_relaxed) == kNone) [[unlikely]] {
      std::uint64_t none = kNone;
      first_.compare_exchange_strong(none, ticks, std::memory_order_relaxed);
    }
    Slot& slot = slots_[correlation % kSlots];
    slot.correlation.store(0, std::memory_order_relaxed);
    slot.ticks.store(ticks, std::memory_order_release);
    slot.correlation.store(correlation, std::memory_order_release);
  }

  // Whether work that began then, and whose call is not known, belongs to calls from before all that were noted.
  bool is_before_all(std::uint64_t ticks) const { return ticks < first_.load(std::memory_order_relaxed); }

  // 0 when it is not known.
  std::uint64_t of(std::uint64_t correlation) const {
    const Slot& slot = slots_[correlation % kSlots];
    if (slot.correlation.load(std::memory_order_acquire) != correlation) return 0;
    const std::uint64_t ticks = slot.ticks.load(std::memory_order_acquire);
    return slot.correlation.load(std::memory_order_relaxed) == correlation ? ticks : 0;
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 12;  // the launch queue holds about 1,000
  struct Slot {
    std::atomic<std::uint64_t> correlation = 0;
    std::atomic<std::uint64_t> ticks = 0;
  };
  static constexpr std::uint64_t kNone = UINT64_MAX;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<std::uint64_t> first_ = kNone;
};

}  // namespace telltale::capture
