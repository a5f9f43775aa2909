// A mutex and a condition that need no constructor: both work in static initializers and can be made anew in a forked
// child, where the thread that held them is gone.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>

namespace telltale::record {

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  void reset_in_child() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

 private:
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// A thread is not canceled while it holds one.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    mutex_.lock();
  }
  ~Lock() {
    mutex_.unlock();
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
  int cancel_state_ = 0;
};

class Condition {
 public:
  void wake_all() { pthread_cond_broadcast(&condition_); }
  // The mutex must be held. Returns when woken, after `ns`, or for no reason.
  void wait_for(Mutex& mutex, std::int64_t ns) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    timespec until{};
    clock_gettime(kClock, &until);
    until.tv_sec += ns / kSecond;
    until.tv_nsec += ns % kSecond;
    if (until.tv_nsec >= kSecond) {
      until.tv_nsec -= kSecond;
      ++until.tv_sec;
    }
#if defined(__SANITIZE_THREAD__)
    pthread_cond_timedwait(&condition_, &mutex.mutex_, &until);
#else
    pthread_cond_clockwait(&condition_, &mutex.mutex_, kClock, &until);
#endif
  }
  void reset_in_child() { condition_ = PTHREAD_COND_INITIALIZER; }

 private:
#if defined(__SANITIZE_THREAD__)
  static constexpr clockid_t kClock = CLOCK_REALTIME;  // GCC 12's thread sanitizer does not know pthread_cond_clockwait
#else
  static constexpr clockid_t kClock = CLOCK_MONOTONIC;  // which nobody sets back
#endif
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace telltale::record
