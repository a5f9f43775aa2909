// A process that is killed leaves a file in which all is there that had been written until then.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "kill_progress.h"
#include "recorded_file.h"

namespace telltale {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kKills = 20;  // programs take longer to start
#else
constexpr int kKills = 200;
#endif
constexpr auto kPatience = std::chrono::seconds(60);  // until what must happen is taken as never happening

class KillTest : public RecordingTest {
 protected:
  KillTest() {
    const int file = open(path("progress").c_str(), O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, sizeof(Progress)) != 0) abort();
    progress_ = static_cast<Progress*>(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
  }
  ~KillTest() override { munmap(progress_, sizeof(Progress)); }

  void forget_progress() {
    progress_->is_running = 0;
    for (ThreadProgress& thread : progress_->threads) thread.emitted = thread.flushed = 0;
  }

  // Runs the program, waits, and kills it. `mode` is null, or "flush".
  template <typename Wait>
  void run_and_kill(const char* mode, Wait wait) {
    forget_progress();
    const std::string out = path(), progress = path("progress");
    const pid_t child = fork();
    if (child == 0) {
      execl(KILL_TARGET, KILL_TARGET, out.c_str(), progress.c_str(), mode, nullptr);
      _exit(127);
    }
    while (progress_->is_running == 0 && waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_EQ(progress_->is_running, 1) << "the program did not start";
    wait();
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  // Kills the program, which calls no function to that end, once the file shows what is looked for.
  template <typename IsShown>
  void run_until_shown(IsShown is_shown) {
    run_and_kill(nullptr, [&] {
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      while (!is_shown(read_recording(path())))
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the writer has written nothing";
    });
  }

  // Every thread's events are there from the first on, without a gap, up to those that were flushed or later ones.
  void expect_all_that_was_flushed(const Trace& trace) const {
    std::array<std::int64_t, kKillThreads> found{};
    for (const EventId event : events_named(trace, "numbered")) {
      if (is_open(trace, event)) continue;
      const auto thread = static_cast<std::size_t>(integer_of(trace, event, "thread"));
      ASSERT_EQ(integer_of(trace, event, "number"), found[thread]) << "of thread " << thread;
      ++found[thread];
    }
    for (std::size_t t = 0; t < kKillThreads; ++t) {
      const ThreadProgress& thread = progress_->threads[t];
      EXPECT_LE(found[t], thread.emitted + 1);  // one may be emitted and not yet noted
      EXPECT_GE(found[t], thread.flushed);
    }
  }

  // An event whose values are not known, since it never ended.
  static bool is_open(const Trace& trace, EventId event) { return trace.other_arguments.find(event) == nullptr; }

  Progress* progress_ = nullptr;
};

TEST_F(KillTest, two_hundred_times_at_random_costs_nothing_that_was_flushed) {
  std::mt19937 random(20261115);
  std::uniform_int_distribution<int> moment(0, 120'000);
  std::int64_t flushed = 0;
  for (int i = 0; i < kKills && !HasFailure(); ++i) {
    const std::chrono::microseconds after(moment(random));
    run_and_kill(i % 2 == 0 ? "flush" : nullptr, [&] { std::this_thread::sleep_for(after); });
    const Trace trace = read_recording(path());
    expect_all_that_was_flushed(trace);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kDamagedChunk), 0u);
    EXPECT_EQ(dropped(trace), 0u);
    for (const ThreadProgress& thread : progress_->threads) flushed += thread.flushed;
  }
  EXPECT_GT(flushed, 1000) << "nothing was tested";
}

TEST_F(KillTest, costs_nothing_that_the_writer_wrote_at_times_of_its_own) {
  std::uint64_t shown = 0;
  run_until_shown([&](const Trace& trace) { return (shown = count_of(trace, "numbered")) > 1000; });
  EXPECT_GE(count_of(read_recording(path()), "numbered"), shown);
}

TEST_F(KillTest, after_a_while_shows_the_scope_that_was_open) {
  run_until_shown([](const Trace& trace) {
    const std::vector<EventId> runs = events_named(trace, "the whole run");
    return !runs.empty() && trace.events.duration[runs.front()] >= 250'000'000;
  });
  const Trace trace = read_recording(path());
  ASSERT_EQ(count_of(trace, "the whole run"), 1u);
  const EventId run = events_named(trace, "the whole run").front();
  EXPECT_GE(trace.events.duration[run], 250'000'000);
  EXPECT_EQ(trace.events.end(run), trace.duration);
}

TEST_F(KillTest, is_told_with_how_much_may_be_missing) {
  run_until_shown([](const Trace& trace) { return count_of(trace, "numbered") > 0; });
  for (const AnomalyCount& anomaly : read_recording(path()).anomalies.list()) {
    if (anomaly.anomaly != Anomaly::kUnfinishedRecording) continue;
    EXPECT_NE(anomaly.example.text.find("25"), std::string::npos) << anomaly.example.text;  // ms, the flush period
    return;
  }
  FAIL() << "nothing was said";
}

}  // namespace
}  // namespace telltale
