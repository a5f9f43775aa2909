// The memory limit holds for everything that grows: however much a program names, and however many threads it has.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hostile_test.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

// Names stay as long as a process, so each of these has one of its own.
class MemoryLimitTest : public HostileTest {
 protected:
  void run_alone(const std::function<void()>& test) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [&] {
      test();
      std::filesystem::remove_all(std::filesystem::path(path()).parent_path());
      exit(HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
  }
};

constexpr std::uint64_t kSmallLimit = 1 << 20;
constexpr const char* kShared = "(too many names)";

std::int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(line.find(':') + 1));
  return -1;
}

TEST_F(MemoryLimitTest, bounds_the_names_of_sites) {
  run_alone([&] {
    constexpr int kNames = 3000;
    telltale_options options = this->options();
    options.memory_limit = kSmallLimit;
    options.policy = TELLTALE_POLICY_BLOCK;
    const std::int64_t before = resident_kilobytes();
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    // One string whose first letters change: what the program itself allocates must not hide what we do.
    std::string name(16'000, 'n');
    telltale_site description{};
    description.name = name.c_str();
    for (int i = 0; i < kNames; ++i) {
      fmt::format_to(name.data(), "{:05}", i);
      EXPECT_EQ(telltale_instant(telltale_make_site(&description), nullptr), TELLTALE_STATUS_OK);
    }
    // All of them would take 48 MB.
    EXPECT_LT(resident_kilobytes() - before, 32 << 10);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    const telltale_statistics counts = statistics();
    EXPECT_EQ(counts.recorded, static_cast<std::uint64_t>(kNames));
    EXPECT_EQ(counts.dropped, 0u);
    EXPECT_LE(counts.peak_memory, kSmallLimit);
    const Trace trace = read_recording(path());
    std::set<std::string_view> names;
    for (EventId id = 0; id < trace.events.size(); ++id)
      if (trace.name(id) != kShared) names.insert(trace.name(id));
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(counts.names_not_kept, kNames - names.size());
    EXPECT_EQ(count_of(trace, kShared), counts.names_not_kept);
    EXPECT_GE(counts.peak_memory, names.size() * name.size()) << "names count as well";
    const std::pair<std::string, std::string> told("names_not_kept", std::to_string(counts.names_not_kept));
    EXPECT_NE(std::ranges::find(trace.metadata, told), trace.metadata.end());
  });
}

TEST_F(MemoryLimitTest, leaves_room_for_records_when_names_have_used_theirs) {
  run_alone([&] {
    telltale_options options = this->options();
    options.memory_limit = kSmallLimit;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    for (int i = 0; i < 1000; ++i) telltale_intern((std::to_string(i) + std::string(10'000, 't')).c_str());
    const std::uint64_t too_many = statistics().names_not_kept;
    EXPECT_GT(too_many, 900u);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    EXPECT_EQ(statistics().names_not_kept, 0u) << "of the session before";
    std::thread([] { TELLTALE_INSTANT("of a thread that is new"); }).join();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    EXPECT_EQ(statistics().recorded, 1u);
  });
}

TEST_F(MemoryLimitTest, bounds_the_threads_that_are_there_at_once) {
  run_alone([&] {
    constexpr int kThreads = 500;
    telltale_options options = this->options();
    options.memory_limit = 64 << 10;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    std::barrier all_are_there(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        TELLTALE_INSTANT("mark");
        all_are_there.arrive_and_wait();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    const telltale_statistics counts = statistics();
    EXPECT_GT(counts.recorded, 0u);
    EXPECT_EQ(counts.recorded + counts.dropped_newest, static_cast<std::uint64_t>(kThreads));
    // Three quarters for records, and what names and threads have at least.
    EXPECT_LE(counts.peak_memory, (48u << 10) + (256u << 10));
    const Trace trace = read_recording(path());
    EXPECT_EQ(count_of(trace, "mark"), counts.recorded);
    EXPECT_EQ(dropped(trace), counts.dropped);
  });
}

TEST_F(MemoryLimitTest, counts_the_pairs_that_no_file_has_room_for) {
  run_alone([&] {
    constexpr int kPairs = 100;
    const telltale_options options = this->options();
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    for (int i = 0; i < kPairs; ++i) telltale_metadata(fmt::format("key{}", i).c_str(), "value");
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    const Trace trace = read_recording(path());
    const auto is_ours = [](const auto& pair) { return pair.first.starts_with("key"); };
    const std::ptrdiff_t kept = std::ranges::count_if(trace.metadata, is_ours);
    EXPECT_GE(kept, 64);
    EXPECT_EQ(statistics().names_not_kept, static_cast<std::uint64_t>(kPairs - kept));
  });
}

}  // namespace
}  // namespace telltale
