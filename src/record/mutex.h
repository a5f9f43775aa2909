// A mutex and a condition that need no constructor: both work in static initializers and can be made anew in a forked
// child, where the thread that held them is gone.
//
// For what may take long, such as ending a session: signal handlers go on running while a thread holds a Lock, and must
// not need the same one. What signal handlers do need is guarded by an UninterruptedLock.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace telltale::record {

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  void reset_in_child() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// A thread is not canceled while it holds one.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    ++held_by_this_thread;
    mutex_.lock();
  }
  ~Lock() {
    mutex_.unlock();
    --held_by_this_thread;
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // Or awaited. Tells a signal handler that it cannot wait for one.
  static bool is_any_held_by_this_thread() { return held_by_this_thread != 0; }

 private:
  friend class Unlocked;
  // initial-exec: no call in a signal handler.
  static inline constinit thread_local unsigned held_by_this_thread __attribute__((tls_model("initial-exec"))) = 0;

  Mutex& mutex_;
  int cancel_state_ = 0;
};

// While somebody has a Lock: others can have it until this ends.
class Unlocked {
 public:
  explicit Unlocked(Mutex& mutex) : mutex_(mutex) {
    mutex_.unlock();
    --Lock::held_by_this_thread;
  }
  ~Unlocked() {
    ++Lock::held_by_this_thread;
    mutex_.lock();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Mutex& mutex_;
};

// A number that goes up when somebody is to wake. Unlike pthread's conditions, it may be told so by a signal handler,
// and outlives a fork by a handler that interrupted who waits.
class Condition {
 public:
  // Signal-safe.
  void wake_all() {
    sequence_.fetch_add(1);
    if (waiting_.load() != 0) futex(FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
  }
  std::uint32_t sequence() const { return sequence_.load(); }

  // `held` must be locked, and is not while this waits. Returns when woken, after `ns`, or for no reason.
  template <typename Held>
  void wait_for(Held& held, std::int64_t ns) {
    wait_for(held, ns, sequence());
  }
  // Returns at once when somebody was woken since sequence() was `seen`.
  template <typename Held>
  void wait_for(Held& held, std::int64_t ns, std::uint32_t seen) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec at_most{ns / kSecond, ns % kSecond};
    waiting_.fetch_add(1);
    held.unlock();
    futex(FUTEX_WAIT_PRIVATE, seen, &at_most);
    held.lock();
    waiting_.fetch_sub(1);
  }

 private:
  void futex(int operation, std::uint32_t value, const timespec* at_most) {
    syscall(SYS_futex, &sequence_, operation, value, at_most, nullptr, 0);
  }

  std::atomic<std::uint32_t> sequence_ = 0;
  std::atomic<std::uint32_t> waiting_ = 0;
};

}  // namespace telltale::record
