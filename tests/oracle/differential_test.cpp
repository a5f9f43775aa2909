// The fast reader against the slow one, on every column of every trace we bundle and of every trap.
#include <gtest/gtest.h>

#include "compare_traces.h"
#include "formats/read_trace.h"
#include "slow_reader.h"
#include "traces_on_disk.h"

namespace telltale::oracle {
namespace {

std::string difference_of_answers(const SlowTrace& slow, const Trace& fast) {
  for (EventId event = 0; event < fast.events.size(); ++event) {
    const std::string about = " of " + describe(fast, event) + "\n";
    if (fast.step_of(event) != slow.step_of[event])
      return "step" + about + "  slow: " + std::to_string(slow.step_of[event]) +
             "\n  fast: " + std::to_string(fast.step_of(event)) + "\n";
    if (fast.launch_of(event) != slow.launch_of[event])
      return "launch" + about + "  slow: " + describe(fast, slow.launch_of[event]) +
             "\n  fast: " + describe(fast, fast.launch_of(event)) + "\n";
    if (fast.operator_of(event) != slow.operator_of[event])
      return "operator" + about + "  slow: " + describe(fast, slow.operator_of[event]) +
             "\n  fast: " + describe(fast, fast.operator_of(event)) + "\n";
  }
  return {};
}

void expect_same(const std::filesystem::path& path, const SlowTrace& slow, const ReadOptions& options) {
  const auto fast = read_trace(path.string(), options);
  ASSERT_TRUE(fast) << to_string(fast.error());
  const std::string found = difference(slow.trace, *fast, "slow", "fast");
  const auto with_options = [&](const std::string& text) {
    return path.filename().string() + " with " + std::to_string(options.threads) + " threads, blocks of " +
           std::to_string(options.block_bytes) + " bytes:\n" + text;
  };
  ASSERT_TRUE(found.empty()) << with_options(found);
  const std::string answers = difference_of_answers(slow, *fast);
  EXPECT_TRUE(answers.empty()) << with_options(answers);
}

class Differential : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Differential, the_fast_reader_agrees_with_the_slow_one_on_every_column) {
  const auto slow = slow_read(text_of_file(GetParam()));
  ASSERT_TRUE(slow);
  expect_same(GetParam(), *slow, with_threads(1));
  expect_same(GetParam(), *slow, with_threads(4));
  expect_same(GetParam(), *slow, with_threads(4, 4096));
}

// What the fast reader makes of the other traps, only their expectations say.
std::vector<std::filesystem::path> traps_that_are_valid_traces() {
  std::vector<std::filesystem::path> files = trap_files();
  std::erase_if(files, [](const std::filesystem::path& path) { return !slow_read(bytes_of(path)); });
  return files;
}

std::string name_of_test(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.filename().string();
  name.resize(name.find('.'));
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, Differential, testing::ValuesIn(bundled_traces()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Traps, Differential, testing::ValuesIn(traps_that_are_valid_traces()), name_of_test);

}  // namespace
}  // namespace telltale::oracle
