// A file that is being written can be read at any moment, by several readers at once.
#include <atomic>
#include <chrono>
#include <thread>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using LiveReadersTest = RecordingTest;

// Reads again and again: what was there stays there, and each event's number is one more than that before.
void read_growing_prefixes(const std::string& path, const std::atomic<bool>& is_over, std::atomic<int>& reads) {
  std::size_t before = 0;
  while (!is_over) {
    const Trace trace = read_recording(path);
    const std::vector<EventId> events = events_named(trace, "numbered");
    ASSERT_GE(events.size(), before);
    before = events.size();
    for (std::size_t i = 0; i < events.size(); ++i)
      ASSERT_EQ(integer_of(trace, events[i], "n"), static_cast<std::int64_t>(i));
    ASSERT_EQ(trace.anomalies.count(Anomaly::kDamagedChunk), 0u);
    ++reads;
  }
}

TEST_F(LiveReadersTest, see_a_consistent_prefix) {
  telltale_options options = this->options();
  options.flush_ms = 2;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  std::atomic<bool> is_over = false;
  std::atomic<int> reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back([&] { read_growing_prefixes(path(), is_over, reads); });
  std::int64_t n = 0;
  constexpr std::int64_t kMost = 4000;  // so that slow readers have an end to come to
  while (reads < 40 && !HasFailure()) {
    for (int i = 0; i < 20 && n < kMost; ++i, ++n) {
      TELLTALE_SCOPE("numbered", n);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(count_of(read_recording(path()), "numbered"), static_cast<std::uint64_t>(n));
}

}  // namespace
}  // namespace telltale
