// What the recorder calls may call the recorder: also to end the session that it is told of, and to begin another.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <semaphore>
#include <thread>

#include "hostile_test.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using namespace std::chrono_literals;

// A thread that was joined is counted by the kernel for a moment.
class ThreadCount {
 public:
  ThreadCount() {
    std::thread([] {}).join();  // the thread sanitizer has a thread of its own from the first one on
    std::this_thread::sleep_for(10ms);
    before_ = now();
  }
  bool comes_to_be_higher_by(std::ptrdiff_t more) const {
    for (int look = 0; look < 5000 && now() != before_ + more; ++look) std::this_thread::sleep_for(1ms);
    return now() == before_ + more;
  }

 private:
  static std::ptrdiff_t now() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  }

  std::ptrdiff_t before_ = 0;
};

class CallbacksTest : public HostileTest {
 protected:
  // One recorded step, and then one that is not.
  telltale_options cycles() {
    telltale_default_schedule(&schedule_, sizeof schedule_);
    schedule_.wait = 1;
    schedule_.active = 1;
    schedule_.skip_first_wait = 1;
    telltale_options options = this->options();
    options.schedule = &schedule_;
    return options;
  }

  telltale_schedule schedule_;
};

struct NextSession {
  telltale_options options;
  int calls = 0;
};

void stop_and_start_next(const char*, void* user) {
  auto& next = *static_cast<NextSession*>(user);
  if (next.calls++ > 0) return;
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_start(&next.options), TELLTALE_STATUS_OK);
}

TEST_F(CallbacksTest, may_stop_the_session_and_start_the_next_one) {
  telltale_options options = cycles();
  const std::string next_path = path("next.tell");
  NextSession next{this->options()};
  next.options.path = next_path.c_str();
  options.on_ready = stop_and_start_next;
  options.user = &next;
  const ThreadCount threads;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("first");
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  EXPECT_EQ(next.calls, 1);
  EXPECT_TRUE(threads.comes_to_be_higher_by(1)) << "one session has one writer";
  EXPECT_TRUE(telltale_is_recording()) << "the schedule of the first session is no longer asked";
  for (int i = 0; i < 1000; ++i) TELLTALE_INSTANT("second");
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(threads.comes_to_be_higher_by(0));
  EXPECT_EQ(count_of(read_recording(path()), "first"), 1u);
  const Trace second = read_recording(next_path);
  EXPECT_EQ(count_of(second, "second"), 1000u);
  EXPECT_EQ(count_of(second, "first"), 0u);
  EXPECT_EQ(second.steps.size(), 1u);
}

TEST_F(CallbacksTest, on_toggle_may_stop_the_session_and_start_the_next_one) {
  telltale_options options = cycles();
  const std::string next_path = path("next.tell");
  NextSession next{this->options()};
  next.options.path = next_path.c_str();
  options.user = &next;
  options.on_toggle = [](int, void* user) { stop_and_start_next(nullptr, user); };
  const ThreadCount threads;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("second");
  EXPECT_TRUE(threads.comes_to_be_higher_by(1));
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(threads.comes_to_be_higher_by(0));
  EXPECT_EQ(count_of(read_recording(next_path), "second"), 1u);
}

TEST_F(CallbacksTest, on_warmup_may_stop_the_session_and_start_the_next_one) {
  telltale_options options = this->options();
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.warmup = schedule.active = 1;
  options.schedule = &schedule;
  const std::string next_path = path("next.tell");
  NextSession next{this->options()};
  next.options.path = next_path.c_str();
  options.user = &next;
  options.on_warmup = [](void* user) { stop_and_start_next(nullptr, user); };
  const ThreadCount threads;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  EXPECT_EQ(next.calls, 1);
  EXPECT_TRUE(telltale_is_recording()) << "the next session has no schedule";
  TELLTALE_INSTANT("second");
  EXPECT_TRUE(threads.comes_to_be_higher_by(1));
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(threads.comes_to_be_higher_by(0));
  EXPECT_EQ(count_of(read_recording(next_path), "second"), 1u);
}

struct Pause {
  std::binary_semaphore entered{0}, may_leave{0};
  std::atomic<int> calls = 0;
};

// The callback of one step is still running when another thread has ended the next one, which begins a file.
TEST_F(CallbacksTest, of_one_step_may_last_beyond_the_next_one) {
  telltale_options options = cycles();
  Pause pause;
  options.user = &pause;
  options.on_ready = [](const char*, void* user) {
    auto& asked = *static_cast<Pause*>(user);
    if (asked.calls++ > 0) return;
    asked.entered.release();
    asked.may_leave.acquire();
  };
  const ThreadCount threads;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  std::thread first([] { EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK); });
  pause.entered.acquire();
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(telltale_is_recording());
  TELLTALE_INSTANT("before");
  pause.may_leave.release();
  first.join();
  EXPECT_TRUE(telltale_is_recording()) << "the file of the next cycle goes on";
  TELLTALE_INSTANT("after");
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(threads.comes_to_be_higher_by(0));
  const Trace second = read_recording(path("run.1.tell"));
  EXPECT_EQ(count_of(second, "before"), 1u);
  EXPECT_EQ(count_of(second, "after"), 1u);
  EXPECT_EQ(second.anomalies.total(), 0u);
}

// on_ready of a dump runs on the writer's thread, for which stop() waits.
TEST_F(CallbacksTest, of_a_dump_may_call_the_recorder_while_the_session_is_stopped) {
  telltale_options options = this->options();
  options.flight_seconds = 60;
  Pause pause;
  options.user = &pause;
  options.on_ready = [](const char*, void* user) {
    auto& asked = *static_cast<Pause*>(user);
    asked.entered.release();
    asked.may_leave.acquire();
    EXPECT_EQ(telltale_step(), TELLTALE_STATUS_NOT_STARTED);
    EXPECT_EQ(statistics().files, 1u);
    const telltale_options defaults = Options();
    EXPECT_EQ(telltale_start(&defaults), TELLTALE_STATUS_IN_CALLBACK);
    asked.calls = 1;
  };
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  std::thread dumper([] { EXPECT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK); });
  pause.entered.acquire();
  std::thread stopper([] { EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK); });
  while (telltale_is_recording()) std::this_thread::sleep_for(1ms);
  pause.may_leave.release();
  stopper.join();
  EXPECT_EQ(pause.calls, 1);
  dumper.join();
}

}  // namespace
}  // namespace telltale
