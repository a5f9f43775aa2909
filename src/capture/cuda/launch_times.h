// When the calls began whose device work is still to come: no kernel starts before its launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace telltale::capture {

// Of the newest calls, as many as there is room for: 2 MiB. Threads that launch write, one thread reads.
class LaunchTimes {
 public:
  LaunchTimes() : slots_(std::make_unique<Slot[]>(kSlots)) {}

  // CUPTI has been attached again.
  void begin_anew() {
    first_correlation_.store(kNone, std::memory_order_relaxed);
    first_ticks_.store(kNone, std::memory_order_relaxed);
  }

  void note(std::uint64_t correlation, std::uint64_t ticks) {
    lower(first_correlation_, correlation);
    lower(first_ticks_, ticks);
    Slot& slot = slots_[correlation % kSlots];
    // Of a number that comes twice nobody knows which call a kernel belongs to.
    const bool repeats = slot.correlation.load(std::memory_order_relaxed) == correlation;
    slot.correlation.store(0, std::memory_order_relaxed);
    slot.ticks.store(repeats ? 0 : ticks, std::memory_order_release);
    slot.correlation.store(correlation, std::memory_order_release);
  }

  // Whether work that began then belongs to a call from before all that were noted. Its time alone does not tell: the
  // device's clock may be behind.
  bool is_before_all(std::uint64_t correlation, std::uint64_t ticks) const {
    return correlation < first_correlation_.load(std::memory_order_relaxed) &&
           ticks < first_ticks_.load(std::memory_order_relaxed);
  }

  // 0 when it is not known.
  std::uint64_t of(std::uint64_t correlation) const {
    const Slot& slot = slots_[correlation % kSlots];
    if (slot.correlation.load(std::memory_order_acquire) != correlation) return 0;
    const std::uint64_t ticks = slot.ticks.load(std::memory_order_acquire);
    return slot.correlation.load(std::memory_order_relaxed) == correlation ? ticks : 0;
  }

 private:
  // From one reading to the next, 200 ms, four threads launch 115,000 kernels at most.
  static constexpr std::size_t kSlots = std::size_t{1} << 17;
  struct Slot {
    std::atomic<std::uint64_t> correlation = 0;
    std::atomic<std::uint64_t> ticks = 0;
  };
  static constexpr std::uint64_t kNone = UINT64_MAX;

  static void lower(std::atomic<std::uint64_t>& least, std::uint64_t value) {
    std::uint64_t known = least.load(std::memory_order_relaxed);
    while (value < known && !least.compare_exchange_weak(known, value, std::memory_order_relaxed)) continue;
  }

  std::unique_ptr<Slot[]> slots_;
  std::atomic<std::uint64_t> first_correlation_ = kNone, first_ticks_ = kNone;
};

}  // namespace telltale::capture
