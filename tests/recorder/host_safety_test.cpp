// The recorder lives in other people's processes: whatever they do, it breaks neither them nor its file.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

#if defined(__SANITIZE_ADDRESS__)
// The search for leaks at exit() waits for ever in a child whose parent's other threads were allocating when it forked.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace telltale {
namespace {

using namespace std::chrono_literals;

class HostSafetyTest : public RecordingTest {
 protected:
  void start(telltale_fork mode = TELLTALE_FORK_SILENT) {
    telltale_options options = this->options();
    options.fork_mode = mode;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
  }

  std::string run(const char* program) const {
    const std::string command = "TELLTALE_RECORD=" + path() + " " + program;
    return std::system(command.c_str()) == 0 ? "" : command;
  }
};

void emit_parent() { TELLTALE_SCOPE("parent"); }
void emit_child() { TELLTALE_SCOPE("child"); }

// The sanitizer's allocator, unlike the C library's, does not survive a fork while another thread is in it, and the
// writer gets its memory for compressing with the first chunk.
void await_writer() { EXPECT_EQ(telltale_flush(), TELLTALE_STATUS_OK); }

TEST_F(HostSafetyTest, a_forked_child_is_silent_and_leaves_the_file_alone) {
  start();
  emit_parent();
  await_writer();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100'000; ++i) emit_child();
    exit(telltale_is_recording() != 0 ? 1 : 0);  // with all handlers
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  emit_parent();
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "parent"), 2u);
  EXPECT_EQ(count_of(trace, "child"), 0u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
  EXPECT_EQ(files(), std::vector<std::string>{"run.tell"});
}

TEST_F(HostSafetyTest, a_forked_child_can_have_a_file_of_its_own) {
  start(TELLTALE_FORK_OWN_FILE);
  emit_parent();
  await_writer();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) emit_child();
    exit(0);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace theirs = read_recording(path("run." + std::to_string(child) + ".tell"));
  EXPECT_EQ(count_of(theirs, "child"), 1000u);
  EXPECT_EQ(count_of(theirs, "parent"), 0u);
  EXPECT_EQ(theirs.anomalies.total(), 0u);
  const Trace ours = read_recording(path());
  EXPECT_EQ(count_of(ours, "child"), 0u);
  EXPECT_EQ(count_of(ours, "parent"), 1u);
}

// The first of them opens the file; the others wait for it, and lose nothing.
TEST_F(HostSafetyTest, threads_of_a_forked_child_that_begin_at_once_all_record) {
  constexpr int kThreads = 4, kForks = 20;
  start(TELLTALE_FORK_OWN_FILE);
  emit_parent();
  await_writer();
  std::vector<pid_t> children;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<int> ready = 0;
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&] {
          ++ready;
          while (ready < kThreads) std::this_thread::yield();
          emit_child();
        });
      for (std::thread& thread : threads) thread.join();
      _exit(telltale_stop());
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
    children.push_back(child);
  }
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  for (const pid_t child : children)
    EXPECT_EQ(count_of(read_recording(path("run." + std::to_string(child) + ".tell")), "child"), 4u);
}

TEST_F(HostSafetyTest, what_forked_children_do_can_be_changed) {
  start(TELLTALE_FORK_OWN_FILE);
  emit_parent();
  await_writer();
  const auto child_has_file = [&] {
    const pid_t child = fork();
    if (child == 0) {
      emit_child();
      exit(0);
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
    return std::filesystem::exists(path("run." + std::to_string(child) + ".tell"));
  };
  EXPECT_EQ(telltale_set_fork_mode(TELLTALE_FORK_SILENT), TELLTALE_FORK_OWN_FILE);
  EXPECT_FALSE(child_has_file());
  EXPECT_EQ(telltale_set_fork_mode(TELLTALE_FORK_OWN_FILE), TELLTALE_FORK_SILENT);
  EXPECT_TRUE(child_has_file());
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(count_of(read_recording(path()), "child"), 0u);
}

TEST_F(HostSafetyTest, a_child_may_start_a_session_of_its_own) {
  start();
  emit_parent();
  await_writer();
  const pid_t child = fork();
  if (child == 0) {
    telltale_options options = this->options();
    const std::string own = path("own.tell");
    options.path = own.c_str();
    if (telltale_start(&options) != TELLTALE_STATUS_OK) _exit(1);
    emit_child();
    _exit(telltale_stop());
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(count_of(read_recording(path("own.tell")), "child"), 1u);
}

TEST_F(HostSafetyTest, forks_from_a_busy_process_with_many_threads_never_hang) {
  start(TELLTALE_FORK_OWN_FILE);
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> emitted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      std::uint64_t mine = 0;
      for (; !is_over; ++mine) {
        emit_parent();
        if (mine % 16 == 0) std::this_thread::sleep_for(20us);
      }
      emitted += mine;
    });
  }
  await_writer();
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      // New sites and threads need locks that another thread may have held at that moment.
      for (int n = 0; n < 200; ++n) emit_child();
      const std::string name = "site of child " + std::to_string(i);
      telltale_site site = {name.c_str(), "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
      telltale_instant(&site, nullptr);
      _exit(0);
    }
    ASSERT_TRUE(wait_for(child).exited_with(0)) << "fork number " << i;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "parent") + dropped(trace), emitted);
  EXPECT_EQ(count_of(trace, "child"), 0u);
}

TEST_F(HostSafetyTest, exec_leaves_what_was_recorded_until_shortly_before) {
  const std::string target = path();
  const pid_t child = fork();
  if (child == 0) {
    telltale_options options = this->options();
    options.path = target.c_str();
    if (telltale_start(&options) != TELLTALE_STATUS_OK) _exit(1);
    emit_child();
    telltale_flush();
    execl("/bin/true", "/bin/true", nullptr);
    _exit(127);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  const Trace trace = read_recording(target);
  EXPECT_EQ(count_of(trace, "child"), 1u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u);
}

TEST_F(HostSafetyTest, exit_in_the_middle_of_scopes_completes_the_file) {
  const pid_t child = fork();
  if (child == 0) {
    telltale_options options = this->options();
    if (telltale_start(&options) != TELLTALE_STATUS_OK) _exit(1);
    static std::atomic<bool> has_emitted = false;
    std::thread([] {
      for (; true; has_emitted = true) emit_child();
    }).detach();
    TELLTALE_SCOPE("never ends");
    while (!has_emitted) std::this_thread::sleep_for(1ms);
    exit(0);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 0u);
  ASSERT_EQ(count_of(trace, "never ends"), 1u);
  EXPECT_GE(trace.anomalies.count(Anomaly::kOpenScope), 1u);
  EXPECT_GT(count_of(trace, "child"), 0u);
}

TEST_F(HostSafetyTest, exceptions_pass_through_scopes_and_end_them) {
  start();
  for (int i = 0; i < 3; ++i) {
    try {
      TELLTALE_SCOPE("outer");
      TELLTALE_SCOPE("inner", i);
      throw std::runtime_error("of no concern to the recorder");
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "outer"), 3u);
  EXPECT_EQ(count_of(trace, "inner"), 3u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
  for (const EventId inner : events_named(trace, "inner")) {
    ASSERT_NE(trace.events.parent[inner], kNoEvent);
    EXPECT_EQ(trace.name(trace.events.parent[inner]), "outer");
  }
}

std::atomic<std::uint64_t> from_handler = 0;
void emit_in_handler(int /*signal*/) {
  static telltale_site site = {"in handler", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  const telltale_scope scope = telltale_begin(&site);
  from_handler += telltale_end(&scope) == TELLTALE_STATUS_OK ? 1 : 0;
}

TEST_F(HostSafetyTest, signal_handlers_may_emit_while_they_interrupt_the_recorder) {
  telltale_options options = this->options();
  options.memory_limit = 64 << 10;  // buffers change often, so handlers meet that, too
  options.policy = TELLTALE_POLICY_BLOCK;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  from_handler = 0;
  struct sigaction action{}, before{};
  action.sa_handler = emit_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> is_over = false;
  std::uint64_t emitted = 0;
  std::thread emitting([&] {
    for (; !is_over; ++emitted) emit_parent();
  });
  for (int i = 0; i < 2000; ++i) {
    pthread_kill(emitting.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(20us);
  }
  is_over = true;
  emitting.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  const telltale_statistics stats = statistics();
  EXPECT_GT(from_handler, 0u);
  EXPECT_EQ(stats.dropped, stats.dropped_in_signal);
  EXPECT_EQ(count_of(trace, "parent"), emitted);
  EXPECT_EQ(count_of(trace, "in handler") + dropped(trace), from_handler);
}

TEST_F(HostSafetyTest, a_canceled_thread_does_not_hold_up_the_end) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer takes what a canceled thread left on its stack for an error";
#endif
  static std::atomic<bool> has_emitted = false;
  start();
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        static telltale_site site = {"canceled", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
        for (; true;
             has_emitted = true) {  // not a C++ scope: C++ itself ends a process that is canceled inside a destructor
          const telltale_scope scope = telltale_begin(&site);
          telltale_end(&scope);
        }
      },
      nullptr);
  while (!has_emitted) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(10ms);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_GT(count_of(read_recording(path()), "canceled"), 0u);
}

TEST_F(HostSafetyTest, static_objects_may_emit_before_main_and_after_it) {
  ASSERT_EQ(run(STATIC_OBJECTS), "");
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "constructor"), 1u);
  EXPECT_EQ(count_of(trace, "main"), 1u);
  EXPECT_EQ(count_of(trace, "destructor"), 1u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST_F(HostSafetyTest, libraries_with_scopes_may_be_loaded_and_unloaded) {
  ASSERT_EQ(run(PLUGIN_HOST " " PLUGIN " 20"), "");
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "plugin work"), 20u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST_F(HostSafetyTest, two_copies_in_one_process_record_to_two_files) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer does not allow a library to prefer its own symbols";
#endif
  telltale_options options = this->options();
  void* other = dlopen(SHARED_RECORDER, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  ASSERT_NE(other, nullptr) << dlerror();
  const auto other_start = reinterpret_cast<decltype(&telltale_start)>(dlsym(other, "telltale_start"));
  const auto other_stop = reinterpret_cast<decltype(&telltale_stop)>(dlsym(other, "telltale_stop"));
  const auto other_instant = reinterpret_cast<decltype(&telltale_instant)>(dlsym(other, "telltale_instant"));
  ASSERT_NE(other_start, &telltale_start) << "it is the same copy";
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  EXPECT_EQ(other_start(&options), TELLTALE_STATUS_CANNOT_OPEN) << "both would write to one file";
  const std::string second = path("other.tell");
  options.path = second.c_str();
  ASSERT_EQ(other_start(&options), TELLTALE_STATUS_OK);
  emit_parent();
  telltale_site site = {"other copy", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  EXPECT_EQ(other_instant(&site, nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(other_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(count_of(read_recording(path()), "parent"), 1u);
  EXPECT_EQ(count_of(read_recording(path()), "other copy"), 0u);
  EXPECT_EQ(count_of(read_recording(second), "other copy"), 1u);
}

}  // namespace
}  // namespace telltale
