// However much is emitted, the recorder's memory stays within its limit.
#include <unistd.h>

#include <fstream>
#include <string>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using BoundedMemoryTest = RecordingTest;

std::int64_t kilobytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1));
  return -1;
}

// The peak of a fresh process, so that what other tests used does not hide it.
int grown_kilobytes(const telltale_options& options, std::uint64_t records) {
  const std::int64_t before = kilobytes("VmRSS");
  if (telltale_start(&options) != TELLTALE_STATUS_OK) return 255;
  for (std::uint64_t i = 0; i < records; ++i) {
    TELLTALE_SCOPE("work");
  }
  if (telltale_stop() != TELLTALE_STATUS_OK) return 254;
  const std::int64_t grown = kilobytes("VmHWM") - before;
  const std::int64_t allowed = static_cast<std::int64_t>(options.memory_limit >> 10) + (8 << 10);
  const telltale_statistics stats = statistics();
  if (stats.recorded + stats.dropped != records) return 253;
  if (stats.peak_memory > options.memory_limit) return 252;
  return grown <= allowed ? 0 : 1;
}

TEST_F(BoundedMemoryTest, stays_within_the_limit_and_eight_megabytes_for_a_hundred_times_the_limit) {
  for (const telltale_policy policy :
       {TELLTALE_POLICY_DROP_NEWEST, TELLTALE_POLICY_DROP_OLDEST, TELLTALE_POLICY_BLOCK}) {
    telltale_options options = this->options();
    options.policy = policy;
    options.memory_limit = 1 << 20;
    constexpr std::uint64_t kRecordBytes = 24;
    const std::uint64_t records = 100 * options.memory_limit / kRecordBytes;
    const pid_t child = fork();
    if (child == 0) _exit(grown_kilobytes(options, records));
    EXPECT_TRUE(wait_for(child).exited_with(0)) << "policy " << policy;
  }
}

}  // namespace
}  // namespace telltale
