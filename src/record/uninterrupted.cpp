#include "record/uninterrupted.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace telltale::record {
namespace {

// initial-exec: no call and no allocation in a signal handler.
constinit thread_local bool is_inside __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool has_blocked_all __attribute__((tls_model("initial-exec"))) = false;

sigset_t all_signals_but_faults() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&signals, fault);
  return signals;
}

}  // namespace

SignalsBlocked::SignalsBlocked() {
  const sigset_t signals = all_signals_but_faults();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool Uninterrupted::begin() {
  if (is_inside) return false;
  errno_ = errno;
  if (!has_blocked_all) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    const sigset_t signals = all_signals_but_faults();
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  is_inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

void Uninterrupted::end() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_inside = false;
  if (!has_blocked_all) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  errno = errno_;
}

bool Uninterrupted::is_this_thread_inside() { return is_inside; }

void Uninterrupted::assume_for_this_thread() { has_blocked_all = true; }

}  // namespace telltale::record
