// Libraries that come and go, and what they bring along.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <semaphore>
#include <string>
#include <thread>

#include "recorded_file.h"

namespace telltale {
namespace {

using Start = int (*)(const char*);
using Work = int (*)();

class LibrariesTest : public RecordingTest {
 protected:
  // What was loaded does not stay for the other tests; a crash is an end like others.
  void expect_success_in_child(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      exit(HasFailure() ? 1 : 0);
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
  }

  // A thread emits, and ends after the library was unloaded.
  static void unload_before_thread_ends(void* library) {
    const auto work = reinterpret_cast<Work>(dlsym(library, "plugin_work"));
    std::binary_semaphore has_worked(0), is_unloaded(0);
    std::thread thread([&] {
      work();
      has_worked.release();
      is_unloaded.acquire();
    });
    has_worked.acquire();
    EXPECT_EQ(dlclose(library), 0);
    is_unloaded.release();
    thread.join();
  }
};

TEST_F(LibrariesTest, one_that_records_may_be_unloaded_before_its_threads_end) {
  expect_success_in_child([&] {
    void* library = dlopen(STATIC_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    ASSERT_EQ(reinterpret_cast<Start>(dlsym(library, "plugin_start"))(path().c_str()), 0);
    unload_before_thread_ends(library);
  });
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "plugin work"), 1u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST_F(LibrariesTest, one_that_never_recorded_is_unloaded_for_good) {
  expect_success_in_child([&] {
    for (int i = 0; i < 3; ++i) {
      void* library = dlopen(STATIC_PLUGIN, RTLD_NOW | RTLD_LOCAL);
      ASSERT_NE(library, nullptr) << dlerror();
      unload_before_thread_ends(library);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what was loaded
      EXPECT_EQ(dlopen(STATIC_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr);
#endif
      const pid_t child = fork();  // calls nothing that is gone
      if (child == 0) _exit(0);
      EXPECT_TRUE(wait_for(child).exited_with(0));
    }
  });
}

// The C library keeps the values of later keys in memory that it allocates, which no signal handler may do: the
// recorder of a library that came late looks after its threads itself.
TEST_F(LibrariesTest, one_that_comes_after_many_others_notes_the_ends_of_threads) {
  constexpr int kOthers = 40, kThreads = 2000;
  expect_success_in_child([&] {
    for (int i = 0; i < kOthers; ++i) {
      pthread_key_t key{};
      ASSERT_EQ(pthread_key_create(&key, nullptr), 0);
    }
    void* library = dlopen(STATIC_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    ASSERT_EQ(reinterpret_cast<Start>(dlsym(library, "plugin_start"))(path().c_str()), 0);
    const auto work = reinterpret_cast<Work>(dlsym(library, "plugin_work"));
    for (int i = 0; i < kThreads; ++i) std::thread(work).join();
  });
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "plugin work") + dropped(trace), kThreads);
  EXPECT_LT(dropped(trace), kThreads / 2) << "more threads than fit into memory at once";
}

TEST_F(LibrariesTest, large_thread_local_variables_leave_the_writer_its_stack) {
  const std::string command = LARGE_THREAD_LOCALS " " + path();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(count_of(read_recording(path()), "large"), 1u);
}

}  // namespace
}  // namespace telltale
