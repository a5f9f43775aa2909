// Many ask for dumps at once, or while the session ends: each gets its own file, or is told why not.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <semaphore>
#include <set>
#include <thread>
#include <vector>

#include "hostile_test.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using namespace std::chrono_literals;

class DumpsTest : public HostileTest {
 protected:
  telltale_options flight() const {
    telltale_options options = this->options();
    options.flight_seconds = 60;
    return options;
  }
};

// A dump that was asked for after the mark has it, and its end.
void expect_whole_dump(const std::string& path, std::string_view mark) {
  const Trace trace = read_recording(path);
  EXPECT_EQ(count_of(trace, mark), 1u) << path;
  EXPECT_EQ(trace.anomalies.total(), 0u) << path;
}

TEST_F(DumpsTest, of_several_threads_at_once_have_a_file_each) {
  constexpr int kThreads = 4, kDumps = 10;
  const telltale_options options = flight();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  std::vector<std::thread> threads;
  std::atomic<int> ready = 0;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int i = 0; i < kDumps; ++i) {
        const std::string target = path(std::to_string(thread) + "-" + std::to_string(i) + ".tell");
        EXPECT_EQ(telltale_dump(target.c_str()), TELLTALE_STATUS_OK);
        EXPECT_TRUE(std::filesystem::exists(target)) << target;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(statistics().files, 40u);
  ASSERT_EQ(files().size(), 40u);
  for (const std::string& file : files()) expect_whole_dump(path(file), "mark");
}

TEST_F(DumpsTest, without_a_path_have_a_number_each) {
  const telltale_options options = flight();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([] { EXPECT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files(), (std::vector<std::string>{"run.1.tell", "run.2.tell", "run.tell"}));
  for (const std::string& file : files()) expect_whole_dump(path(file), "mark");
}

// One that cannot be written fails alone.
TEST_F(DumpsTest, fail_each_for_a_reason_of_its_own) {
  const telltale_options options = flight();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  std::atomic<bool> is_over = false;
  const std::string nowhere = path("no/such/folder/run.tell");
  std::thread failing([&] {
    while (!is_over) {
      EXPECT_EQ(telltale_dump(nowhere.c_str()), TELLTALE_STATUS_CANNOT_WRITE);
      EXPECT_EQ(telltale_error_text(), "cannot write to " + nowhere + ": No such file or directory");
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(telltale_dump(path().c_str()), TELLTALE_STATUS_OK) << telltale_error_text();
  is_over = true;
  failing.join();
  expect_whole_dump(path(), "mark");
}

TEST_F(DumpsTest, return_when_sessions_of_all_kinds_end_and_begin_meanwhile) {
  constexpr int kSessions = 60;
  const telltale_options options = flight();
  telltale_options stream = this->options();
  const std::string stream_path = path("stream.tell"), dump_path = path("dump.tell");
  stream.path = stream_path.c_str();
  std::atomic<bool> is_over = false;
  std::atomic<int> written = 0, refused = 0;
  std::thread dumper([&] {
    while (!is_over) {
      const telltale_status status = telltale_dump(dump_path.c_str());
      ++(status == TELLTALE_STATUS_OK ? written : refused);
      const std::set<telltale_status> honest = {TELLTALE_STATUS_OK, TELLTALE_STATUS_NOT_STARTED,
                                                TELLTALE_STATUS_NOT_FLIGHT};
      EXPECT_TRUE(honest.contains(status)) << status << ": " << telltale_error_text();
      if (status == TELLTALE_STATUS_OK) {
        EXPECT_TRUE(std::filesystem::remove(dump_path));
      }
    }
  });
  for (int i = 0; i < kSessions || written == 0; ++i) {
    ASSERT_EQ(telltale_start(i % 2 == 0 ? &options : &stream), TELLTALE_STATUS_OK);
    const int before = written + refused;
    while (written + refused < before + 2) std::this_thread::sleep_for(100us);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
  }
  is_over = true;
  dumper.join();
  EXPECT_GT(refused, 0);
}

struct SlowReader {
  std::binary_semaphore has_file{0}, may_leave{0};
  std::atomic<int> files = 0;
};

// The first step is too long, and so is the second, while who was told of the first dump is still looking at it.
TEST_F(DumpsTest, that_were_asked_for_before_the_end_are_written) {
  telltale_options options = flight();
  options.flight_step_seconds = 1e-9;
  SlowReader reader;
  options.user = &reader;
  options.on_ready = [](const char*, void* user) {
    auto& told = *static_cast<SlowReader*>(user);
    if (told.files++ > 0) return;
    told.has_file.release();
    told.may_leave.acquire();
  };
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  reader.has_file.acquire();
  TELLTALE_INSTANT("mark");
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  std::thread stopper([] { EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK); });
  while (telltale_is_recording()) std::this_thread::sleep_for(1ms);
  reader.may_leave.release();
  stopper.join();
  ASSERT_EQ(files(), (std::vector<std::string>{"run.1.tell", "run.tell"}));
  expect_whole_dump(path("run.1.tell"), "mark");
}

}  // namespace
}  // namespace telltale
