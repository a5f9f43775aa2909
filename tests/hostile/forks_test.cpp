// Forks of every kind, from every place: the recorder locks up neither parent nor child, and each has its own file.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "recorded_file.h"
#include "telltale/telltale.h"

#if defined(__SANITIZE_ADDRESS__)
// The search for leaks at exit() waits for ever in a child whose parent's other threads were allocating when it forked.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace telltale {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kWatchdogSeconds = 60;
telltale_site site = {"forked", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};

telltale_status emit() { return telltale_instant(&site, nullptr); }

class ForksTest : public RecordingTest {
 protected:
  // In a child with a watchdog: a test that hangs fails.
  void expect_success_in_child(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kWatchdogSeconds);
      act();
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }

  // The thread sanitizer takes vfork() for fork(), knows nothing of the kernel's own, and ends a child that starts
  // threads.
  static constexpr bool is_bound_to_fork() {
#if defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
  }

  void start(telltale_fork mode = TELLTALE_FORK_SILENT) {
    telltale_options options = this->options();
    options.fork_mode = mode;
    options.memory_limit = 1 << 20;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    EXPECT_EQ(emit(), TELLTALE_STATUS_OK);
    EXPECT_EQ(telltale_flush(), TELLTALE_STATUS_OK);  // the writer has allocated what it needs
  }
};

std::atomic<int> handler_forks = 0;
void fork_in_handler(int /*signal*/) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  ++handler_forks;
}

// The handler interrupts a thread that only emits: where it holds a lock of the recorder, nobody could fork any more.
TEST_F(ForksTest, threads_and_handlers_may_fork_at_once) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a handler that forks inside the address sanitizer's own locks leaves its child waiting for them";
#endif
  expect_success_in_child([&] {
    start();
    std::signal(SIGUSR1, fork_in_handler);
    std::atomic<bool> is_over = false;
    std::atomic<int> forks = 0;
    std::uint64_t emitted = 0;
    std::thread emitting([&] {
      for (; !is_over; ++emitted) emit();
    });
    std::vector<std::thread> forking;
    for (int i = 0; i < 2; ++i)
      forking.emplace_back([&] {
        while (!is_over) {
          const pid_t child = fork();
          if (child == 0) _exit(0);
          waitpid(child, nullptr, 0);
          ++forks;
        }
      });
    while (forks < 200 || handler_forks < 100) {
      pthread_kill(emitting.native_handle(), SIGUSR1);
      std::this_thread::sleep_for(1ms);
    }
    is_over = true;
    emitting.join();
    for (std::thread& thread : forking) thread.join();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_statistics all = statistics();
    EXPECT_EQ(all.recorded + all.dropped, emitted + 1);
  });
}

bool emits_at_forks = false;
std::uint64_t taken_at_forks = 0;

void emit_with_new_site() {
  static int made = 0;
  if (!emits_at_forks) return;
  const std::string name = "at fork " + std::to_string(++made);
  telltale_site fresh = {name.c_str(), "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  taken_at_forks += telltale_instant(&fresh, nullptr) == TELLTALE_STATUS_OK ? 1 : 0;
}

// Registered before the recorder's own, which hold its locks when these are called.
__attribute__((constructor(101))) void register_handlers_of_forks() {
  pthread_atfork(emit_with_new_site, emit_with_new_site, emit_with_new_site);
}

TEST_F(ForksTest, handlers_of_forks_may_emit) {
  expect_success_in_child([&] {
    start();
    emits_at_forks = true;
    for (int i = 0; i < 10; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      EXPECT_TRUE(wait_for(child).exited_with(0));
    }
    EXPECT_EQ(taken_at_forks, 20u) << "before and after each";
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_statistics all = statistics();
    EXPECT_EQ(all.recorded + all.dropped, taken_at_forks + 1);
  });
}

// More than a buffer holds: the child asks for another one, in its parent's memory.
TEST_F(ForksTest, a_child_that_shares_its_parents_memory_may_emit) {
  if (is_bound_to_fork()) GTEST_SKIP() << "the thread sanitizer does not allow it";
  constexpr int kEvents = 200'000;
  expect_success_in_child([&] {
    start(TELLTALE_FORK_OWN_FILE);
    const pid_t child = vfork();  // NOLINT: what is tested
    if (child == 0) {
      for (int i = 0; i < kEvents; ++i) telltale_instant(&site, nullptr);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    EXPECT_EQ(emit(), TELLTALE_STATUS_OK);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_statistics all = statistics();
    EXPECT_EQ(all.recorded + all.dropped, kEvents + 2u);
    EXPECT_EQ(files(), std::vector<std::string>{"run.tell"});
  });
}

// The kernel's fork calls nobody; the child has its parent's file open for as long as it lives.
TEST_F(ForksTest, a_child_that_was_forked_without_notice_does_not_hold_the_file) {
  if (is_bound_to_fork()) GTEST_SKIP() << "the thread sanitizer does not allow it";
  expect_success_in_child([&] {
    start();
    const auto child = static_cast<pid_t>(syscall(SYS_fork));
    if (child == 0) {
      while (true) pause();
    }
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    telltale_options options = this->options();
    EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
}

TEST_F(ForksTest, a_child_that_was_forked_without_notice_may_call_everything) {
  if (is_bound_to_fork()) GTEST_SKIP() << "the thread sanitizer does not allow it";
  expect_success_in_child([&] {
    start();
    const auto child = static_cast<pid_t>(syscall(SYS_fork));
    if (child == 0) {
      alarm(kWatchdogSeconds);
      const bool has_none = telltale_stop() == TELLTALE_STATUS_NOT_STARTED &&
                            telltale_flush() == TELLTALE_STATUS_NOT_STARTED && emit() == TELLTALE_STATUS_NOT_RECORDING;
      telltale_options options = this->options();
      const std::string own = path("own.tell");
      options.path = own.c_str();
      const bool has_own = telltale_start(&options) == TELLTALE_STATUS_OK && emit() == TELLTALE_STATUS_OK &&
                           telltale_stop() == TELLTALE_STATUS_OK;
      _exit(has_none && has_own ? 0 : 1);
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
    EXPECT_EQ(emit(), TELLTALE_STATUS_OK);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    EXPECT_EQ(count_of(read_recording(path()), "forked"), 2u);
    EXPECT_EQ(count_of(read_recording(path("own.tell")), "forked"), 1u);
  });
}

// Whichever of them is first: one session, one writer, one file.
TEST_F(ForksTest, threads_of_a_child_may_start_a_session_while_others_emit) {
  if (is_bound_to_fork()) GTEST_SKIP() << "the thread sanitizer does not allow it";
  expect_success_in_child([&] {
    start(TELLTALE_FORK_OWN_FILE);
    for (int i = 0; i < 30; ++i) {
      const pid_t child = fork();
      if (child != 0) {
        EXPECT_TRUE(wait_for(child).exited_with(0)) << "fork number " << i;
        continue;
      }
      alarm(kWatchdogSeconds);
      std::atomic<bool> is_ready = false;
      std::thread emitting([&] {
        is_ready = true;
        for (int event = 0; event < 1000; ++event) emit();
      });
      while (!is_ready) std::this_thread::yield();
      telltale_options options = this->options();
      const std::string own = path("own.%p.tell");
      options.path = own.c_str();
      const telltale_status started = telltale_start(&options);
      emitting.join();
      const bool is_one = started == TELLTALE_STATUS_OK || started == TELLTALE_STATUS_ALREADY_STARTED;
      _exit(is_one && telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1);
    }
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
  });
}

}  // namespace
}  // namespace telltale
