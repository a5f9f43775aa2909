// The flight recorder: writes nothing until asked, and then the last moments.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "kill_progress.h"
#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using namespace std::chrono_literals;

class FlightTest : public RecordingTest {
 protected:
  telltale_options flight(double seconds) const {
    telltale_options options = this->options();
    options.flight_seconds = seconds;
    return options;
  }
  // Dumps are made by another thread; waits for that many.
  bool has_files(std::size_t count, std::chrono::seconds within = 60s) const {
    for (int i = 0; i < within / 10ms && statistics().files < count; ++i) std::this_thread::sleep_for(10ms);
    return files().size() == count;
  }
};

TEST_F(FlightTest, writes_on_demand_what_it_holds_and_goes_on) {
  const telltale_options options = flight(60);
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("first");
  std::this_thread::sleep_for(60ms);
  EXPECT_TRUE(files().empty());
  ASSERT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK) << telltale_error_text();
  TELLTALE_INSTANT("second");
  const std::string elsewhere = path("elsewhere.tell");
  ASSERT_EQ(telltale_dump(elsewhere.c_str()), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace first = read_recording(path()), second = read_recording(elsewhere);
  EXPECT_EQ(count_of(first, "first"), 1u);
  EXPECT_EQ(count_of(first, "second"), 0u);
  EXPECT_EQ(first.anomalies.total(), 0u);
  EXPECT_EQ(count_of(second, "first"), 1u);
  EXPECT_EQ(count_of(second, "second"), 1u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(FlightTest, keeps_only_the_last_seconds) {
  const telltale_options options = flight(0.3);
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  for (int i = 0; i < 10'000; ++i) TELLTALE_INSTANT("long ago");
  std::this_thread::sleep_for(500ms);
  // On a machine that lets us wait for so long, just now is long ago, too: once more.
  std::uint64_t tries = 0;
  std::int64_t began = 0;
  do {
    ++tries;
    began = monotonic_ns();
    TELLTALE_INSTANT("just now");
    ASSERT_EQ(telltale_dump(path().c_str()), TELLTALE_STATUS_OK);
  } while (monotonic_ns() - began > 300'000'000);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "long ago"), 0u);
  EXPECT_GE(count_of(trace, "just now"), 1u);
  EXPECT_LE(count_of(trace, "just now"), tries);
  telltale_stop();
  EXPECT_EQ(statistics().dropped, 0u);
  EXPECT_EQ(statistics().aged_out, 10'000u + tries);
}

TEST_F(FlightTest, drops_the_oldest_when_memory_does_not_hold_the_window) {
  telltale_options options = flight(60);
  options.memory_limit = 64 << 10;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  constexpr std::int64_t kEvents = 20'000;
  for (std::int64_t n = 0; n < kEvents; ++n) TELLTALE_INSTANT("numbered", n);
  ASSERT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  const std::vector<EventId> kept = events_named(trace, "numbered");
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.size() + dropped(trace), static_cast<std::uint64_t>(kEvents));
  EXPECT_EQ(integer_of(trace, kept.back(), "n"), kEvents - 1);
  EXPECT_EQ(integer_of(trace, kept.front(), "n"), kEvents - static_cast<std::int64_t>(kept.size()));
}

TEST_F(FlightTest, writes_when_a_step_takes_too_long) {
  telltale_options options = flight(60);
  options.flight_step_seconds = 0.05;
  // A machine that lets us wait may make any step a long one: then what is written is right, and we try again.
  const auto longest_of_short_steps = [&] {
    std::int64_t longest = 0, before = monotonic_ns();
    EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    for (int step = 0; step < 20; ++step) {
      telltale_step();
      const std::int64_t now = monotonic_ns();
      longest = std::max(longest, now - before);
      before = now;
    }
    return longest;
  };
  while (longest_of_short_steps() >= 25'000'000) {  // a step may have a part in two of these times
    telltale_stop();
    for (const std::string& file : files()) std::remove(path(file).c_str());
  }
  EXPECT_TRUE(files().empty());
  {
    TELLTALE_SCOPE("slow");
    std::this_thread::sleep_for(80ms);
  }
  telltale_step();
  ASSERT_TRUE(has_files(1));
  telltale_stop();
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "slow"), 1u);
  EXPECT_EQ(trace.steps.size(), 21u);
}

std::atomic<int> own_handler_calls = 0;

TEST_F(FlightTest, writes_on_a_signal_and_gives_the_signal_back) {
  struct sigaction own{}, now{};
  own.sa_handler = [](int) { ++own_handler_calls; };
  sigaction(SIGUSR2, &own, nullptr);
  telltale_options options = flight(60);
  options.flight_signal = SIGUSR2;
  std::atomic<int> told = 0;
  options.user = &told;
  options.on_ready = [](const char*, void* user) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  raise(SIGUSR2);
  ASSERT_TRUE(has_files(1));
  raise(SIGUSR2);
  ASSERT_TRUE(has_files(2));
  telltale_stop();
  EXPECT_EQ(files(), (std::vector<std::string>{"run.1.tell", "run.tell"}));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(count_of(read_recording(path()), "mark"), 1u);
  sigaction(SIGUSR2, nullptr, &now);
  EXPECT_EQ(now.sa_handler, own.sa_handler);
  raise(SIGUSR2);
  EXPECT_EQ(own_handler_calls, 1);
}

TEST_F(FlightTest, writes_on_a_signal_however_long_records_may_wait) {
  telltale_options options = flight(60);
  options.flight_signal = SIGUSR2;
  options.flush_ms = 60'000;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  raise(SIGUSR2);
  EXPECT_TRUE(has_files(1, 30s)) << "the writer sleeps on";
  telltale_stop();
}

TEST_F(FlightTest, may_be_asked_for_its_statistics_by_who_is_told_of_a_dump) {
  telltale_options options = flight(60);
  std::atomic<std::uint64_t> files_then = 0;
  options.user = &files_then;
  options.on_ready = [](const char*, void* user) {
    *static_cast<std::atomic<std::uint64_t>*>(user) = statistics().files;
    EXPECT_NE(telltale_dump(nullptr), TELLTALE_STATUS_OK) << "it would wait for itself";
    EXPECT_NE(telltale_stop(), TELLTALE_STATUS_OK);
  };
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  ASSERT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(files_then, 1u);
}

TEST_F(FlightTest, says_so_when_it_cannot_write_and_goes_on) {
  const telltale_options options = flight(60);
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  EXPECT_EQ(telltale_dump("/no/such/folder/run.tell"), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_STREQ(telltale_error_text(), "cannot write to /no/such/folder/run.tell: No such file or directory");
  ASSERT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(count_of(read_recording(path()), "mark"), 1u);
}

}  // namespace
}  // namespace telltale
