// What telltale_flush() promises: all that was emitted before it is in the file, and a file that ends there has no
// gaps.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

class FlushTest : public RecordingTest {
 protected:
  struct Moment {
    std::int64_t emitted;  // before the flush
    std::uintmax_t bytes;  // of the file after it
  };

  // A thread emits as fast as it can, so that it fills buffers while others are written.
  std::vector<Moment> flush_beside_a_busy_thread(int flushes) {
    telltale_options settings = options();
    settings.policy = TELLTALE_POLICY_BLOCK;
    EXPECT_EQ(telltale_start(&settings), TELLTALE_STATUS_OK);
    constexpr std::int64_t kBeside = 5000;  // records beside each flush: a few buffers
    std::atomic<std::int64_t> emitted = 0, wanted = 0;
    std::thread busy([&] {
      for (std::int64_t number = 0; number < flushes * kBeside; ++number) {
        while (number >= wanted.load(std::memory_order_acquire)) std::this_thread::yield();
        {
          TELLTALE_SCOPE("numbered", number);
        }
        emitted.store(number + 1, std::memory_order_release);
      }
    });
    std::vector<Moment> moments;
    for (int i = 0; i < flushes; ++i) {
      wanted += kBeside;
      const std::int64_t before = emitted.load(std::memory_order_acquire);
      EXPECT_EQ(telltale_flush(), TELLTALE_STATUS_OK);
      moments.push_back({before, std::filesystem::file_size(path())});
    }
    busy.join();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    return moments;
  }

  Trace cut_at(const std::string& bytes, std::uintmax_t end) {
    std::ofstream(path("cut.tell"), std::ios::binary) << bytes.substr(0, end);
    return read_recording(path("cut.tell"));
  }
};

TEST_F(FlushTest, a_file_that_ends_behind_a_flush_has_all_that_was_emitted_before) {
  const std::vector<Moment> moments = flush_beside_a_busy_thread(24);
  std::ifstream file(path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t i = 0; i < moments.size() && !HasFailure(); ++i) {
    const Trace trace = cut_at(bytes, moments[i].bytes);
    std::vector<std::int64_t> numbers;
    for (const EventId event : events_named(trace, "numbered"))
      if (trace.other_arguments.find(event) != nullptr) numbers.push_back(integer_of(trace, event, "number"));
    std::ranges::sort(numbers);
    ASSERT_GE(static_cast<std::int64_t>(numbers.size()), moments[i].emitted) << "after flush " << i;
    for (std::size_t n = 0; n < numbers.size(); ++n) ASSERT_EQ(numbers[n], static_cast<std::int64_t>(n)) << "a gap";
  }
}

}  // namespace
}  // namespace telltale
