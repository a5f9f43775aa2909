#include "record/buffer_pool.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "record/clock.h"
#include "record/pages.h"
#include "record/records.h"

namespace telltale::record {
namespace {

// Large enough that its handover costs next to nothing a record, small enough that a limit holds several for each
// thread.
constexpr std::size_t kLargestBuffer = 64 << 10, kSmallestBuffer = 4 << 10;
constexpr std::size_t kBuffersWanted = 64;
constexpr std::size_t kStatesAtOnce = 16;
constexpr std::int64_t kBlockedCheckNs = 5'000'000;
constexpr std::int64_t kPatienceNs = 1'000'000'000;

std::size_t buffer_size_for(std::size_t memory_limit) {
  std::size_t size = kLargestBuffer;
  while (size > kSmallestBuffer && memory_limit / size < kBuffersWanted) size /= 2;
  return size;
}

// Its number may belong to another one by now, and it is found later.
bool is_gone(const ThreadState& thread) { return syscall(SYS_tgkill, getpid(), thread.tid, 0) != 0 && errno == ESRCH; }

}  // namespace

bool BufferPool::open(std::size_t memory_limit, Policy policy, bool keeps_full) {
  const UninterruptedLock lock(mutex_);
  buffer_bytes_ = buffer_size_for(memory_limit);
  const std::size_t buffers = std::max<std::size_t>(MemoryBudget::for_records(memory_limit) / buffer_bytes_, 1);
  region_ = static_cast<unsigned char*>(map_pages(buffers * buffer_bytes_));
  if (region_ == nullptr) return false;
  region_bytes_ = buffers * buffer_bytes_;
  policy_.store(policy, std::memory_order_relaxed);
  keeps_full_ = keeps_full;
  carved_ = 0;
  available_.store(buffers, std::memory_order_relaxed);
  is_starved_.store(false, std::memory_order_relaxed);
  is_taking_ = is_waiting_allowed_ = true;
  is_writer_wanted_ = false;
  return true;
}

void BufferPool::close() {
  const UninterruptedLock lock(mutex_);
  unmap_region();
  budget_.hold_records(0);
  region_ = nullptr;
  region_bytes_ = 0;
  is_taking_ = false;
  free_ = full_first_ = full_last_ = nullptr;
  available_.store(0, std::memory_order_relaxed);
  recycle_exited();
}

// But for what threads keep that were given up.
void BufferPool::unmap_region() {
  std::size_t kept = 0;
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next) {
    const bool keeps = thread->buffer != nullptr && !is_stale(thread->buffer);
    kept += keeps ? 1 : 0;
    thread->buffers = thread->buffer != nullptr ? 1 : 0;
  }
  unsigned char* from = region_;
  for (std::size_t at = 0; kept > 0 && at < region_bytes_; at += buffer_bytes()) {
    if (!is_kept_by_a_thread(reinterpret_cast<Buffer*>(region_ + at))) continue;
    unmap_pages(from, static_cast<std::size_t>(region_ + at - from));
    from = region_ + at + buffer_bytes();
  }
  unmap_pages(from, static_cast<std::size_t>(region_ + region_bytes_ - from));
}

unsigned char* BufferPool::next_buffer(ThreadState& thread, std::size_t bytes) {
  const Policy policy = policy_.load(std::memory_order_relaxed);
  const bool has_none = thread.cursor.load(std::memory_order_relaxed) == nullptr;
  if (has_none && policy == Policy::kDropNewest && is_exhausted() && bytes <= record_bytes()) {
    is_starved_.store(true, std::memory_order_relaxed);
    losses_.add(tell::LossReason::kNewestDropped, 1);
    return nullptr;
  }
  Buffer* buffer = nullptr;
  {
    UninterruptedLock lock(mutex_);
    if (!lock.is_held()) {
      losses_.add(tell::LossReason::kInSignal, 1);
      return nullptr;
    }
    if (!is_taking_) return nullptr;  // it was given up, and its record counted
    thread.is_given_up = false;
    if (bytes > record_bytes()) {
      losses_.add(tell::LossReason::kTooLarge, 1);
      return nullptr;
    }
    detach(thread);
    buffer = free_or_null();
    if (buffer == nullptr && policy == Policy::kDropOldest) {
      buffer = stolen_or_null();
      if (buffer != nullptr) {
        thread.uncounted_end = buffer->end;
        thread.uncounted.store(buffer->written, std::memory_order_relaxed);
      }
    }
    if (buffer == nullptr && policy == Policy::kBlock) buffer = awaited_or_null(lock);
    if (buffer != nullptr) attach(*buffer, thread);
  }
  if (buffer == nullptr) {
    is_starved_.store(true, std::memory_order_relaxed);
    losses_.add(tell::LossReason::kNewestDropped, 1);
    return nullptr;
  }
  // Without the mutex: the records lie in memory that no cache of ours has.
  if (thread.uncounted.load(std::memory_order_relaxed) != nullptr) count_dropped(thread);
  return buffer->begin();
}

void BufferPool::count_dropped(ThreadState& thread) {
  const unsigned char* begin = thread.uncounted.exchange(nullptr, std::memory_order_acq_rel);
  if (begin != nullptr) losses_.add(tell::LossReason::kOldestDropped, count_records(begin, thread.uncounted_end));
}

void BufferPool::attach(Buffer& buffer, ThreadState& thread) {
  buffer.owner = &thread;
  buffer.bytes = buffer_bytes();
  buffer.written = buffer.begin();
  ++thread.buffers;
  thread.buffer = &buffer;
  thread.limit.store(reinterpret_cast<unsigned char*>(&buffer) + buffer_bytes_, std::memory_order_relaxed);
  thread.cursor.store(buffer.begin(), std::memory_order_release);
}

// The thread's buffer joins the queue of the writer, or the free ones when nothing is in it.
void BufferPool::detach(ThreadState& thread) {
  Buffer* buffer = thread.buffer;
  if (buffer == nullptr) return;
  unsigned char* const end = thread.cursor.load(std::memory_order_relaxed);
  thread.buffer = nullptr;
  thread.limit.store(nullptr, std::memory_order_relaxed);
  thread.cursor.store(nullptr, std::memory_order_relaxed);
  if (is_stale(buffer)) {
    --thread.buffers;
    unmap_pages(buffer, buffer->bytes);
    return;
  }
  buffer->end = end;
  buffer->full_since = ticks_now();
  buffer->next = nullptr;
  (full_last_ != nullptr ? full_last_->next : full_first_) = buffer;
  full_last_ = buffer;
  if (is_writer_waiting_ && !keeps_full_) wake_writer();
}

Buffer* BufferPool::free_or_null() {
  Buffer* buffer = free_;
  if (buffer != nullptr) {
    free_ = buffer->next;
  } else if ((carved_ + 1) * buffer_bytes_ <= region_bytes_) {
    buffer = reinterpret_cast<Buffer*>(region_ + carved_++ * buffer_bytes_);
    budget_.hold_records(carved_ * buffer_bytes_);
  } else {
    return nullptr;
  }
  available_.fetch_sub(1, std::memory_order_relaxed);
  return buffer;
}

Buffer* BufferPool::stolen_or_null() {
  Buffer* before = nullptr;
  Buffer* buffer = full_first_;
  if (buffer != nullptr && buffer == pinned_) {
    before = buffer;
    buffer = buffer->next;
  }
  if (buffer == nullptr) return nullptr;
  (before != nullptr ? before->next : full_first_) = buffer->next;
  if (full_last_ == buffer) full_last_ = before;
  --buffer->owner->buffers;
  return buffer;
}

// Signal handlers run while it waits.
Buffer* BufferPool::awaited_or_null(UninterruptedLock& lock) {
  Buffer* buffer = nullptr;
  while (buffer == nullptr && is_waiting_allowed_) {
    is_starved_.store(true, std::memory_order_relaxed);
    wake_writer();
    has_free_.wait_for(lock, kBlockedCheckNs);
    buffer = free_or_null();
  }
  return buffer;
}

ThreadState* BufferPool::add_thread(std::uint32_t track, std::uint32_t name, bool tells_of_its_end) {
  const UninterruptedLock lock(mutex_);
  if (!lock.is_held() || current_thread != nullptr) return current_thread;
  if (region_ == nullptr) recycle_exited();
  ThreadState* thread = free_states_;
  if (thread != nullptr) {
    free_states_ = thread->next;
    *thread->error = '\0';
    thread->busy.store(0, std::memory_order_relaxed);
    thread->depth.store(0, std::memory_order_relaxed);
    thread->has_exited = thread->is_given_up = false;
    thread->described_in = thread->records_in_file = thread->open_digest = 0;
  } else {
    thread = fresh_state_or_null();
    if (thread == nullptr) return nullptr;
  }
  thread->track = track;
  thread->name.store(name, std::memory_order_relaxed);
  thread->tid = static_cast<pid_t>(syscall(SYS_gettid));
  thread->tells_of_its_end = tells_of_its_end;
  thread->next = threads_;
  threads_ = thread;
  current_thread = thread;
  return thread;
}

ThreadState* BufferPool::fresh_state_or_null() {
  if (!budget_.take_for_thread(sizeof(ThreadState))) return nullptr;
  if (fresh_count_ == 0) {
    fresh_states_ = static_cast<ThreadState*>(map_pages(kStatesAtOnce * sizeof(ThreadState)));
    if (fresh_states_ == nullptr) return nullptr;
    fresh_count_ = kStatesAtOnce;
  }
  --fresh_count_;
  return fresh_states_++;
}

void BufferPool::remove_thread(ThreadState& thread) {
  const UninterruptedLock lock(mutex_);
  if (!lock.is_held()) return;
  current_thread = nullptr;
  note_end(thread);
}

void BufferPool::note_end(ThreadState& thread) {
  detach(thread);
  thread.depth.store(0, std::memory_order_relaxed);
  thread.busy.store(0, std::memory_order_release);  // it may have been canceled inside
  thread.has_exited = true;
}

void BufferPool::recycle_exited() {
  ThreadState** link = &threads_;
  while (*link != nullptr) {
    ThreadState* thread = *link;
    if (!thread->has_exited && !thread->tells_of_its_end && is_gone(*thread)) note_end(*thread);
    if (thread->has_exited && thread->buffers == 0 && thread != pinned_thread_) {
      *link = thread->next;
      thread->next = free_states_;
      free_states_ = thread;
    } else {
      link = &thread->next;
    }
  }
}

void BufferPool::stop_waiting() {
  const UninterruptedLock lock(mutex_);
  is_waiting_allowed_ = false;
  has_free_.wake_all();
}

bool BufferPool::is_any_thread_inside() {
  const UninterruptedLock lock(mutex_);
  for (const ThreadState* thread = threads_; thread != nullptr; thread = thread->next)
    if (is_inside(*thread)) return true;
  return false;
}

// One that was given up before has nothing of this recording.
bool BufferPool::is_inside(const ThreadState& thread) const {
  return &thread != current_thread && !thread.is_given_up && thread.busy.load(std::memory_order_acquire) != 0;
}

void BufferPool::wait_until_left() {
  const std::int64_t give_up = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  while (is_any_thread_inside()) {
    if (clock_ns(CLOCK_MONOTONIC) > give_up) return give_up_threads_inside();
    const timespec moment{0, 20'000};
    nanosleep(&moment, nullptr);
  }
}

void BufferPool::give_up_threads_inside() {
  const UninterruptedLock lock(mutex_);
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next) {
    if (!is_inside(*thread)) continue;
    thread->is_given_up = true;
    thread->limit.store(nullptr, std::memory_order_relaxed);
    count_dropped(*thread);
    losses_.add(tell::LossReason::kGivenUp, 1);
  }
}

void BufferPool::collect_from_threads() {
  const UninterruptedLock lock(mutex_);
  is_taking_ = false;
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next)
    if (!thread->is_given_up) detach(*thread);
}

bool BufferPool::is_kept_by_a_thread(const Buffer* buffer) const {
  for (const ThreadState* thread = threads_; thread != nullptr; thread = thread->next)
    if (thread->buffer == buffer) return true;
  return false;
}

void BufferPool::close_buffers() {
  const UninterruptedLock lock(mutex_);
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next)
    thread->limit.store(nullptr, std::memory_order_relaxed);
}

void BufferPool::take_closed_buffers() {
  const UninterruptedLock lock(mutex_);
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next) {
    const bool is_closed = thread->limit.load(std::memory_order_relaxed) == nullptr;
    if (is_closed && thread->busy.load(std::memory_order_acquire) == 0) detach(*thread);
  }
}

void BufferPool::recycle() {
  const UninterruptedLock lock(mutex_);
  recycle_exited();
}

void BufferPool::wait_for_work(std::int64_t ns) {
  UninterruptedLock lock(mutex_);
  const std::uint32_t seen = has_work_.sequence();
  if (is_writer_wanted_.exchange(false) || (full_first_ != nullptr && !keeps_full_)) return;
  is_writer_waiting_ = true;
  has_work_.wait_for(lock, ns, seen);
  is_writer_waiting_ = false;
  is_writer_wanted_.store(false);
}

void BufferPool::wake_writer() {
  is_writer_wanted_.store(true);
  has_work_.wake_all();
}

Buffer* BufferPool::pop_full() {
  const UninterruptedLock lock(mutex_);
  Buffer* buffer = full_first_;
  if (buffer == nullptr) return nullptr;
  full_first_ = buffer->next;
  if (full_first_ == nullptr) full_last_ = nullptr;
  return buffer;
}

void BufferPool::release(Buffer* buffer) {
  const UninterruptedLock lock(mutex_);
  --buffer->owner->buffers;
  buffer->next = free_;
  free_ = buffer;
  available_.fetch_add(1, std::memory_order_relaxed);
  has_free_.wake_all();
}

std::uint64_t BufferPool::drop_older_than(std::uint64_t ticks) {
  std::uint64_t records = 0;
  while (true) {
    Buffer* buffer = nullptr;
    {
      const UninterruptedLock lock(mutex_);
      buffer = full_first_;
      if (buffer == nullptr || buffer->full_since >= ticks) return records;
      full_first_ = buffer->next;
      if (full_first_ == nullptr) full_last_ = nullptr;
    }
    records += count_records(buffer->begin(), buffer->end);
    release(buffer);
  }
}

Buffer* BufferPool::take_all_full() {
  const UninterruptedLock lock(mutex_);
  Buffer* list = full_first_;
  full_first_ = full_last_ = nullptr;
  return list;
}

void BufferPool::put_back(Buffer* list) {
  if (list == nullptr) return;
  const UninterruptedLock lock(mutex_);
  Buffer* last = list;
  while (last->next != nullptr) last = last->next;
  last->next = full_first_;
  if (full_last_ == nullptr) full_last_ = last;
  full_first_ = list;
}

void BufferPool::reset_in_child() {
  // A signal handler that forked may have interrupted this thread while it wrote a record.
  const bool is_in_use = current_thread != nullptr && current_thread->busy.load(std::memory_order_relaxed) != 0;
  if (!is_in_use) unmap_pages(region_, region_bytes_);
  region_ = nullptr;
  region_bytes_ = 0;
  budget_.hold_records(0);
  is_taking_ = false;
  free_ = full_first_ = full_last_ = nullptr;
  pinned_ = nullptr;
  pinned_thread_ = nullptr;
  available_.store(0, std::memory_order_relaxed);
  is_waiting_allowed_ = is_writer_waiting_ = false;
  for (ThreadState* thread = threads_; thread != nullptr; thread = thread->next) {
    thread->buffer = nullptr;
    thread->buffers = 0;
    thread->limit.store(nullptr, std::memory_order_relaxed);
    thread->cursor.store(nullptr, std::memory_order_relaxed);
    thread->has_exited = thread != current_thread;
    thread->is_given_up = false;
  }
  if (current_thread != nullptr) current_thread->tid = static_cast<pid_t>(syscall(SYS_gettid));
  recycle_exited();
}

}  // namespace telltale::record
