// Stretches of the recorder in which no signal handler runs on the calling thread: a handler comes before or after, and
// never finds its thread inside one of the recorder's short locks.
//
// Handlers of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) still run: the kernel ends a process that has
// blocked what it raises. They, and what others have registered for forks, can find their thread inside, and are
// refused: stretches do not nest.
//
// Two system calls each: for what happens seldom, not for each record.
#pragma once

#include <csignal>

#include "record/mutex.h"

namespace telltale::record {

// No handler but of faults runs on the thread while one lives. Nests.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class Uninterrupted {
 public:
  // False when the thread is inside such a stretch already. It is not canceled in one, and finds its errno as it was.
  bool begin();
  void end();

  static bool is_this_thread_inside();
  // The calling thread has blocked all signals but faults for good.
  static void assume_for_this_thread();

 private:
  sigset_t before_{};
  int cancel_state_ = 0;
  int errno_ = 0;
};

class UninterruptedLock {
 public:
  explicit UninterruptedLock(Mutex& mutex) : mutex_(mutex) { lock(); }
  ~UninterruptedLock() {
    if (is_held_) unlock();
  }
  UninterruptedLock(const UninterruptedLock&) = delete;
  UninterruptedLock& operator=(const UninterruptedLock&) = delete;

  // False for who runs in the middle of a stretch, maybe this very one.
  bool is_held() const { return is_held_; }
  void lock() {
    is_held_ = uninterrupted_.begin();
    if (is_held_) mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    is_held_ = false;
    uninterrupted_.end();
  }

 private:
  Mutex& mutex_;
  Uninterrupted uninterrupted_;
  bool is_held_ = false;
};

}  // namespace telltale::record
