// The memory for records that are not yet written: bounded, in buffers that go from a thread to the writer and back.
//
// A thread takes the mutex once a buffer, some thousand records, never on a record; no signal handler runs on it
// meanwhile. Everything here may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/losses.h"
#include "record/memory_budget.h"
#include "record/mutex.h"
#include "record/thread_state.h"
#include "record/uninterrupted.h"

namespace telltale::record {

// A header in front of the bytes it describes.
struct Buffer {
  Buffer* next;
  ThreadState* owner;
  std::size_t bytes;         // with this header
  unsigned char* end;        // of its records, once full
  unsigned char* written;    // what lies before it is in the file
  std::uint64_t full_since;  // ticks

  unsigned char* begin() { return reinterpret_cast<unsigned char*>(this + 1); }
};

enum class Policy : std::uint8_t { kDropNewest, kDropOldest, kBlock };

class BufferPool {
 public:
  constexpr BufferPool(Losses& losses, MemoryBudget& budget) : losses_(losses), budget_(budget) {}

  // Reserves address space; pages are only used once touched. False when there is none.
  // `keeps_full`: the writer leaves full buffers in the queue until it is woken for another reason.
  bool open(std::size_t memory_limit, Policy policy, bool keeps_full);
  // Gives the memory back, but for buffers of threads that were given up.
  void close();

  // A buffer with `bytes` free for the calling thread, whose present one goes to the writer; null when the policy says
  // that the record is to be dropped (it is counted then).
  unsigned char* next_buffer(ThreadState& thread, std::size_t bytes);

  // The calling thread begins: sets current_thread, unless a signal handler has done so already. Null without memory,
  // or where a handler of faults interrupted this.
  ThreadState* add_thread(std::uint32_t track, std::uint32_t name, bool tells_of_its_end);
  // One ends.
  void remove_thread(ThreadState& thread);

  // The recording ends: threads that wait for a buffer go on without one.
  void stop_waiting();
  // After a barrier on all threads: returns when each has been outside the recorder since, and will not write any more.
  // A thread that does not leave within a second, because a signal handler holds it up, is given up, and the record
  // that it may be writing counted as lost. It keeps its buffer until it asks for another one.
  void wait_until_left();
  // Then: all other buffers go to the writer, and no thread gets a new one.
  void collect_from_threads();

  // ---- for the writer ----

  // Waits for a full buffer, for wake_writer(), or for so long.
  void wait_for_work(std::int64_t ns);
  // Signal-safe.
  void wake_writer();
  // The oldest full buffer, or null.
  Buffer* pop_full();
  // Gives back what pop_full() gave.
  void release(Buffer* buffer);
  // Frees full buffers whose last record is older than that; returns how many records they held.
  std::uint64_t drop_older_than(std::uint64_t ticks);
  // All full buffers at once, oldest first; put_back() returns them to the front of the queue.
  Buffer* take_all_full();
  void put_back(Buffer* list);

  // What a thread has emitted into its present buffer and the file does not have yet. The buffer stays in place until
  // unpin().
  struct Partial {
    Buffer* buffer = nullptr;
    const unsigned char* end = nullptr;
    bool has_full_before = false;  // buffers that the thread filled earlier are still in the queue
  };
  // Calls `visit(thread, partial)` for each living thread, without the mutex.
  template <typename Visit>
  void for_each_thread(Visit visit) {
    UninterruptedLock lock(mutex_);
    for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next) {
      const std::uint32_t present = thread->buffer != nullptr ? 1 : 0;
      const Partial partial{is_stale(thread->buffer) ? nullptr : thread->buffer,
                            thread->cursor.load(std::memory_order_acquire), thread->buffers > present};
      pinned_ = partial.buffer;
      pinned_thread_ = thread;
      lock.unlock();
      visit(*thread, partial);
      lock.lock();
      pinned_ = nullptr;
      pinned_thread_ = nullptr;
    }
  }

  // Whether a thread found no buffer since the last time somebody asked.
  bool take_starvation() { return is_starved_.exchange(false, std::memory_order_relaxed); }
  // First half of taking buffers away from threads that may be idle: none of them goes on in its buffer without asking.
  void close_buffers();
  // Second half, after a barrier on all threads: the buffers of those that are outside the recorder go to the queue.
  void take_closed_buffers();

  // States of threads that are gone and whose records are in the file can be used again.
  void recycle();

  std::size_t buffer_bytes() const { return buffer_bytes_.load(std::memory_order_relaxed); }
  // What one record may take.
  std::size_t record_bytes() const { return buffer_bytes() - sizeof(Buffer); }

  Mutex& mutex_for_fork() { return mutex_; }
  // Only the calling thread exists, and nobody holds the mutex: forgets all buffers and all other threads.
  void reset_in_child();

 private:
  Buffer* free_or_null();
  Buffer* stolen_or_null();
  Buffer* awaited_or_null(UninterruptedLock& lock);
  void attach(Buffer& buffer, ThreadState& thread);
  void detach(ThreadState& thread);
  void note_end(ThreadState& thread);
  void recycle_exited();
  ThreadState* fresh_state_or_null();
  void unmap_region();
  bool is_any_thread_inside();
  bool is_inside(const ThreadState& thread) const;
  bool is_kept_by_a_thread(const Buffer* buffer) const;
  void give_up_threads_inside();
  void count_dropped(ThreadState& thread);
  // Of a recording that is over, and of a thread that was given up in it.
  bool is_stale(const Buffer* buffer) const {
    const auto* at = reinterpret_cast<const unsigned char*>(buffer);
    return at != nullptr && (at < region_ || at >= region_ + region_bytes_);
  }
  bool is_exhausted() const { return available_.load(std::memory_order_relaxed) == 0; }

  Mutex mutex_;
  Condition has_work_, has_free_;
  Losses& losses_;
  MemoryBudget& budget_;
  std::atomic<Policy> policy_ = Policy::kDropNewest;
  bool is_taking_ = false;           // threads get buffers
  bool is_waiting_allowed_ = false;  // for one that is free
  bool is_writer_waiting_ = false;
  std::atomic<bool> is_writer_wanted_ = false;
  bool keeps_full_ = false;

  unsigned char* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  std::atomic<std::size_t> buffer_bytes_ = 0;
  std::size_t carved_ = 0;                  // buffers cut from the region so far
  std::atomic<std::size_t> available_ = 0;  // free ones and those not cut yet
  std::atomic<bool> is_starved_ = false;
  Buffer* free_ = nullptr;
  Buffer* full_first_ = nullptr;
  Buffer* full_last_ = nullptr;
  const Buffer* pinned_ = nullptr;
  const ThreadState* pinned_thread_ = nullptr;

  ThreadState* threads_ = nullptr;
  ThreadState* free_states_ = nullptr;
  ThreadState* fresh_states_ = nullptr;  // never used, one behind the other
  std::size_t fresh_count_ = 0;
};

}  // namespace telltale::record
