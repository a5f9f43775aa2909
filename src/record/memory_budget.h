// How much memory the recorder holds of all that grows with what the host does, and how much it may.
//
// Three quarters of a session's limit are for records that wait for the writer. A quarter, and at least 256 KiB, is for
// what describes them: names, sites and tracks, which leave a quarter of that for the states of threads. Descriptions
// stay as long as the process, so what was described before a session takes from its share. From any thread, and in
// signal handlers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace telltale::record {

inline constexpr std::size_t kDefaultMemory = 64 << 20;

class MemoryBudget {
 public:
  static constexpr std::size_t for_records(std::size_t limit) { return limit - limit / 4; }
  static constexpr std::size_t for_descriptions(std::size_t limit) { return std::max(limit / 4, kLeastDescribed); }

  // Its limit counts from now on, also after its end.
  void begin_session(std::size_t limit) {
    share_.store(for_descriptions(limit), std::memory_order_relaxed);
    records_.store(0, std::memory_order_relaxed);
    peak_.store(0, std::memory_order_relaxed);
    note_peak();
  }

  // False when there is no room.
  bool take_for_names(std::size_t bytes) {
    const std::size_t share = share_.load(std::memory_order_relaxed);
    return take(names_, bytes, share - share / 4);
  }
  bool take_for_thread(std::size_t bytes) {
    const std::size_t share = share_.load(std::memory_order_relaxed);
    const std::size_t names = names_.load(std::memory_order_relaxed);
    return take(threads_, bytes, names < share ? share - names : 0);
  }

  // So many bytes of the share for records are in use.
  void hold_records(std::size_t bytes) {
    records_.store(bytes, std::memory_order_relaxed);
    note_peak();
  }

  // Bytes held at once, at most, in the present session or the last one.
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kLeastDescribed = 256 << 10;

  bool take(std::atomic<std::size_t>& used, std::size_t bytes, std::size_t limit) {
    std::size_t before = used.load(std::memory_order_relaxed);
    do {
      if (before + bytes > limit) return false;
    } while (!used.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    note_peak();
    return true;
  }

  void note_peak() {
    const std::size_t now = records_.load(std::memory_order_relaxed) + names_.load(std::memory_order_relaxed) +
                            threads_.load(std::memory_order_relaxed);
    std::size_t before = peak_.load(std::memory_order_relaxed);
    while (before < now && !peak_.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::size_t> share_ = for_descriptions(kDefaultMemory);
  std::atomic<std::size_t> records_ = 0, names_ = 0, threads_ = 0, peak_ = 0;
};

}  // namespace telltale::record
