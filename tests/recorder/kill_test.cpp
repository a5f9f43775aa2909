// A process that is killed leaves a file in which all is there that was emitted until shortly before.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
constexpr std::int64_t kPromisedNs = 100'000'000;

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
    for (ThreadProgress& thread : progress_->threads) thread.emitted = thread.first_ns = thread.last_ns = 0;
  }

  // Starts the program and kills it so long after it began to run.
  void run_and_kill(std::chrono::microseconds after) {
    const std::string out = path(), progress = path("progress"), threads = std::to_string(kKillThreads);
    const pid_t child = fork();
    if (child == 0) {
      execl(KILL_TARGET, KILL_TARGET, out.c_str(), progress.c_str(), threads.c_str(), nullptr);
      _exit(127);
    }
    while (progress_->is_running == 0 && waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    ASSERT_EQ(progress_->is_running, 1) << "the program did not start";
    std::this_thread::sleep_for(after);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  // Every thread's events are there from the first on, without a gap, up to at most the promised time before the end.
  void expect_all_but_the_last_moment(const Trace& trace) const {
    std::array<std::int64_t, kKillThreads> found{}, last_ns{};
    for (const EventId event : events_named(trace, "numbered")) {
      if (is_open(trace, event)) continue;
      const auto thread = static_cast<std::size_t>(integer_of(trace, event, "thread"));
      ASSERT_EQ(integer_of(trace, event, "number"), found[thread]) << "of thread " << thread;
      ++found[thread];
      last_ns[thread] = integer_of(trace, event, "ns");
    }
    for (std::size_t t = 0; t < kKillThreads; ++t) {
      const ThreadProgress& thread = progress_->threads[t];
      EXPECT_LE(found[t], thread.emitted + 1);  // one may be emitted and not yet noted
      if (found[t] >= thread.emitted) continue;
      const std::int64_t reached = found[t] > 0 ? last_ns[t] : thread.first_ns.load();
      EXPECT_LE(thread.last_ns - reached, kPromisedNs);
    }
  }

  // An event whose values are not known, since it never ended.
  static bool is_open(const Trace& trace, EventId event) { return trace.other_arguments.find(event) == nullptr; }

  Progress* progress_ = nullptr;
};

TEST_F(KillTest, two_hundred_times_at_random_costs_at_most_the_last_moment_each_time) {
  std::mt19937 random(20261115);
  std::uniform_int_distribution<int> moment(0, 120'000);
  std::uint64_t events = 0;
  for (int i = 0; i < kKills && !HasFailure(); ++i) {
    forget_progress();
    run_and_kill(std::chrono::microseconds(moment(random)));
    const Trace trace = read_recording(path());
    expect_all_but_the_last_moment(trace);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kDamagedChunk), 0u);
    EXPECT_EQ(dropped(trace), 0u);
    events += trace.events.size();
  }
  EXPECT_GT(events, 1000u) << "nothing was tested";
}

TEST_F(KillTest, after_a_while_shows_the_scope_that_was_open) {
  forget_progress();
  run_and_kill(std::chrono::milliseconds(400));
  const Trace trace = read_recording(path());
  ASSERT_EQ(count_of(trace, "the whole run"), 1u);
  const EventId run = events_named(trace, "the whole run").front();
  EXPECT_GE(trace.events.duration[run], 250'000'000);
  EXPECT_EQ(trace.events.end(run), trace.duration);
}

TEST_F(KillTest, is_told_with_how_much_may_be_missing) {
  forget_progress();
  run_and_kill(std::chrono::milliseconds(100));
  for (const AnomalyCount& anomaly : read_recording(path()).anomalies.list()) {
    if (anomaly.anomaly != Anomaly::kUnfinishedRecording) continue;
    EXPECT_NE(anomaly.example.text.find("25"), std::string::npos) << anomaly.example.text;  // ms, the flush period
    return;
  }
  FAIL() << "nothing was said";
}

}  // namespace
}  // namespace telltale
