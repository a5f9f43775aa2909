#include "record/process_hooks.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "record/active_session.h"
#include "record/clock.h"
#include "record/recorder_state.h"
#include "record/session_pairs.h"
#include "record/writer.h"

namespace telltale::record {
namespace {

constexpr const char* kPathVariable = "TELLTALE_RECORD";
// How long a record waits for another thread that starts the child's own recording, which opens a file.
constexpr int kMostLooks = 20'000;
constexpr timespec kBetweenLooks = {0, 100'000};

constinit pthread_once_t once = PTHREAD_ONCE_INIT;
constinit pthread_key_t exit_key = 0;
constinit bool has_exit_key = false;
constinit bool is_locked_for_fork = false;
constinit bool must_record_in_child = false;

void on_thread_exit(void* state) {
  auto& thread = *static_cast<ThreadState*>(state);
  if (&thread != current_thread) return;
  current_thread = nullptr;
  pool.remove_thread(thread);
}

// Nobody is in the middle of changing what the child inherits. A fork inside a signal handler that interrupted us
// cannot wait for that; its child starts from nothing.
void before_fork() {
  is_locked_for_fork = current_thread == nullptr || current_thread->busy.load(std::memory_order_relaxed) == 0;
  if (!is_locked_for_fork) return;
  names.lock_for_fork();
  pool.lock_for_fork();
}

void after_fork_in_parent() {
  if (!is_locked_for_fork) return;
  pool.unlock_after_fork();
  names.unlock_after_fork();
}

void forget_parent() {
  __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELAXED);
  names.reset_in_child();
  reset_metadata_lock_in_child();
  must_record_in_child = session.reset_in_child();
  writer.reset_in_child();
  losses.reset();
}

// While a child starts its own recording, the owner is the thread that does so, as a negative number.
pid_t as_starting(pid_t thread) { return -thread; }
bool is_starting(pid_t owner) { return owner < 0; }

// Whether another thread has started to record. A handler that interrupted that very thread cannot wait for it.
bool wait_until_started(pid_t starting) {
  if (starting == as_starting(gettid())) return false;
  for (int look = 0; look < kMostLooks && owner.load(std::memory_order_acquire) == starting; ++look)
    nanosleep(&kBetweenLooks, nullptr);
  return owner.load(std::memory_order_acquire) == getpid() && telltale_is_recording();
}

void after_fork_in_child() {
  forget_parent();
  // Whoever was about to start in the parent is not here.
  if (is_starting(owner.load(std::memory_order_relaxed))) owner.store(0, std::memory_order_relaxed);
  // The first record finds no buffer and comes to continue_in_child().
  if (must_record_in_child) __atomic_store_n(&telltale_recording, 1u, __ATOMIC_RELAXED);
}

void prepare_process() {
  choose_clock();
  prepare_barrier();
  has_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((constructor)) void start_as_environment_says() {
  make_ready();
  // Not in a program that has more rights than whoever set the variable.
  const char* path = secure_getenv(kPathVariable);
  if (path == nullptr || path[0] == '\0') return;
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path;
  if (telltale_start(&options) != TELLTALE_STATUS_OK) dprintf(STDERR_FILENO, "telltale: %s\n", telltale_error_text());
}

__attribute__((destructor)) void stop_at_exit() {
  if (owner.load(std::memory_order_relaxed) == getpid()) session.stop(tell::EndReason::kExit);
}

}  // namespace

void make_ready() { pthread_once(&once, prepare_process); }

void watch_for_thread_exit(ThreadState& thread) {
  make_ready();
  if (has_exit_key) pthread_setspecific(exit_key, &thread);
}

bool continue_in_child() {
  pid_t parent = owner.load(std::memory_order_relaxed);
  if (is_starting(parent)) return wait_until_started(parent);
  if (!owner.compare_exchange_strong(parent, as_starting(gettid())))
    return is_starting(parent) ? wait_until_started(parent) : parent == getpid();
  // A fork that calls no handlers left everything as it was.
  if (session.is_active()) forget_parent();
  const bool is_recording = must_record_in_child && session.start_in_child();
  if (!is_recording) __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELAXED);
  owner.store(getpid());
  return is_recording;
}

}  // namespace telltale::record
