// The hot path: puts one record into the calling thread's buffer.
//
// No lock, no allocation, no system call, unless the buffer is full or the thread or the site is new; what that takes
// is kept out of line.
#pragma once

#include <type_traits>

#include "record/recorder_state.h"
#include "record/records.h"
#include "record/thread_state.h"
#include "telltale/telltale.h"

namespace telltale::record {

// The calling thread's state, made on its first record; null without memory, or where the thread has none any more.
[[gnu::cold, gnu::noinline]] ThreadState* new_thread();

// Where the buffer of the calling thread is used up, or it never had one.
struct Room {
  unsigned char* at;       // null: the record is dropped
  telltale_status status;  // of emit(): a dropped record is counted, or this process records nothing after all
};
[[gnu::cold, gnu::noinline]] Room room_elsewhere(ThreadState& thread, std::size_t bytes);

// kNoNumber to who interrupted the recorder where it numbers another one.
[[gnu::cold, gnu::noinline]] std::uint32_t number_of_new_site(telltale_site* site);

inline std::uint32_t number_of(telltale_site* site) {
  const std::uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
  if (id == 0) [[unlikely]]
    return number_of_new_site(site);
  if (id == kNoNumber) __builtin_unreachable();  // no site has it
  return id;
}

// Counts one record that has no place; what emit() returns then.
[[gnu::cold, gnu::noinline]] telltale_status lost(tell::LossReason reason);
// The same on a thread for which new_thread() was null.
[[gnu::cold, gnu::noinline]] telltale_status lost_without_thread();

// The memory that the next records go to was last read by the writer, on another processor: asked for now, it is here
// when they come. Cheaper than the wait for it by far where processors share no fast cache.
inline void expect_to_write(const unsigned char* at) {
  constexpr std::ptrdiff_t kAhead = 512;  // some twenty records
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(at[kAhead]));
#else
  __builtin_prefetch(at + kAhead, 1);
#endif
}

// Most fills cannot fail, and return nothing.
template <typename Fill>
inline bool is_filled(Fill& fill, unsigned char* at) {
  if constexpr (std::is_void_v<decltype(fill(at))>) {
    fill(at);
    return true;
  } else {
    return fill(at);
  }
}

// Calls `fill(at)` with room for `bytes`, a multiple of a word, in the calling thread's buffer. A fill that returns
// false drops the record: its site cannot be numbered now.
template <typename Fill>
inline telltale_status emit(std::size_t bytes, Fill fill) {
  ThreadState* thread = current_thread;
  if (thread == nullptr) [[unlikely]] {
    thread = new_thread();
    if (thread == nullptr) return lost_without_thread();
  }
  if (thread->busy.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return lost(tell::LossReason::kInSignal);
  thread->busy.store(1, std::memory_order_relaxed);
  // For this thread's signal handlers; other threads see the order thanks to barrier_on_all_threads().
  std::atomic_signal_fence(std::memory_order_seq_cst);
  telltale_status status = TELLTALE_STATUS_NOT_RECORDING;
  if (telltale_is_recording()) [[likely]] {
    status = TELLTALE_STATUS_OK;
    unsigned char* at = thread->cursor.load(std::memory_order_relaxed);
    if (thread->limit.load(std::memory_order_relaxed) - at < static_cast<std::ptrdiff_t>(bytes)) [[unlikely]] {
      const Room room = room_elsewhere(*thread, bytes);
      at = room.at;
      status = room.status;
    }
    if (at != nullptr) {
      expect_to_write(at);
      if (is_filled(fill, at)) [[likely]]
        thread->cursor.store(at + bytes, std::memory_order_release);
      else
        status = lost(tell::LossReason::kInSignal);
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread->busy.store(0, std::memory_order_release);
  return status;
}

}  // namespace telltale::record
