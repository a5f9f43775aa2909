#include "record/process_hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "record/clock.h"
#include "record/process_identity.h"
#include "record/recorder_state.h"
#include "record/session_pairs.h"
#include "record/uninterrupted.h"
#include "record/writer.h"

// Not there in programs that are linked statically, which load nothing.
#pragma weak dlopen
#pragma weak dladdr
#pragma weak dlsym

namespace telltale::record {
namespace {

constexpr const char* kPathVariable = "TELLTALE_RECORD";

constexpr pthread_key_t kKeysWithoutMemory = 32;  // of the C library

constinit pthread_once_t once = PTHREAD_ONCE_INIT;
constinit pthread_key_t exit_key = 0;
constinit bool has_exit_key = false;
constinit std::atomic<bool> is_kept_loaded = false;
// How often the calling thread's end has called us: once for each state that it had.
constinit thread_local int ends __attribute__((tls_model("initial-exec"))) = 0;

void on_thread_exit(void* state) {
  auto& thread = *static_cast<ThreadState*>(state);
  if (&thread != current_thread) return;
  ++ends;
  pool.remove_thread(thread);
}

// ---- forks ----

// All that signal handlers may need: nobody is in the middle of changing what the child inherits.
template <typename Do>
void for_each_lock(Do action) {
  action(metadata_mutex_for_fork());
  action(names.mutex_for_fork());
  action(pool.mutex_for_fork());
}

constinit Uninterrupted uninterrupted_fork;  // of who holds the locks
// Forks of the calling thread by who interrupted it inside the recorder: a handler of faults, or of forks.
constinit thread_local int forks_inside __attribute__((tls_model("initial-exec"))) = 0;

void before_fork() {
  Uninterrupted fork;
  if (!fork.begin()) {
    ++forks_inside;
    return;
  }
  for_each_lock([](Mutex& mutex) { mutex.lock(); });
  uninterrupted_fork = fork;
}

void after_fork_in_parent() {
  if (forks_inside > 0) {
    --forks_inside;
    return;
  }
  Uninterrupted fork = uninterrupted_fork;
  for_each_lock([](Mutex& mutex) { mutex.unlock(); });
  fork.end();
}

// Nobody else is there.
void forget_parent() {
  session.reset_in_child();
  writer.reset_in_child();
  losses.reset();
  own();
}

void after_fork_in_child() {
  const bool is_inside = forks_inside > 0;
  if (is_inside) --forks_inside;
  for_each_lock([&](Mutex& mutex) { is_inside ? mutex.reset_in_child() : mutex.unlock(); });
  forget_parent();
  if (!is_inside) uninterrupted_fork.end();
}

// A fork that calls no handlers left everything as it was, locks included.
void leave_parent() {
  if (memory_of() != MemoryOf::kParentCopied) return;
  Uninterrupted change;
  if (!change.begin()) return;
  if (begin_to_own()) {
    for_each_lock([](Mutex& mutex) { mutex.reset_in_child(); });
    forget_parent();
  }
  wait_for_owner();
  change.end();
}

// ---- the library ----

void prepare_process() {
  choose_clock();
  prepare_barrier();
  prepare_identity();
  has_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  // A value of a later key takes memory, which a signal handler must not allocate.
  if (has_exit_key && exit_key >= kKeysWithoutMemory) {
    has_exit_key = false;
    pthread_key_delete(exit_key);
  }
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// dlclose() must not take away code that threads call when they end, or that the writer's thread runs. The shared
// library is linked so that it stays; a library of somebody's that contains the recorder is told to.
void keep_loaded() {
  if (is_kept_loaded.load(std::memory_order_relaxed)) return;
  Dl_info info{};
  if (dlopen != nullptr && dladdr != nullptr && dladdr(&once, &info) != 0 && info.dli_fname != nullptr)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  is_kept_loaded.store(true, std::memory_order_relaxed);
}

// A program with a recorder of its own may load a library that brings another one: what is called by its name is the
// program's, and this one stays unused.
bool is_another_recorder_used() {
  if (dlsym == nullptr) return false;
  void* const used = dlsym(RTLD_DEFAULT, "telltale_start");
  return used != nullptr && used != reinterpret_cast<void*>(&telltale_start);
}

__attribute__((constructor)) void start_as_environment_says() {
  pthread_once(&once, prepare_process);
  // Not in a program that has more rights than whoever set the variable.
  const char* path = secure_getenv(kPathVariable);
  if (path == nullptr || path[0] == '\0' || is_another_recorder_used()) return;
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path;
  if (telltale_start(&options) != TELLTALE_STATUS_OK) dprintf(STDERR_FILENO, "telltale: %s\n", telltale_error_text());
}

// At exit, and when a library that never recorded is unloaded.
__attribute__((destructor)) void stop_at_exit() {
  const bool is_ours = memory_of() == MemoryOf::kThisProcess && !Uninterrupted::is_this_thread_inside();
  if (is_ours && session.is_there()) session.stop(tell::EndReason::kExit);
  if (is_ours && !is_kept_loaded.load(std::memory_order_relaxed) && has_exit_key) {
    has_exit_key = false;
    pthread_key_delete(exit_key);
  }
}

}  // namespace

void make_ready() {
  pthread_once(&once, prepare_process);
  keep_loaded();
  leave_parent();
}

ActiveSession& session_here() {
  make_ready();
  return session;
}

bool can_watch_for_thread_exit() { return has_exit_key; }

void watch_for_thread_exit(ThreadState& thread) {
  if (has_exit_key) pthread_setspecific(exit_key, &thread);
}

bool has_thread_ended() { return ends >= PTHREAD_DESTRUCTOR_ITERATIONS; }

bool is_this_process_recorded() {
  const MemoryOf memory = memory_of();
  if (memory == MemoryOf::kParentCopied) leave_parent();
  const bool is_to_start = session.is_to_start_in_child();
  if (memory == MemoryOf::kParentShared) return !is_to_start;
  if (is_to_start) return session.start_in_child();
  return memory == MemoryOf::kThisProcess;
}

}  // namespace telltale::record
