// Each trap file gives what the expectation beside it says, for any number of threads and any size of block.
#include <gtest/gtest.h>

#include "expectation.h"
#include "formats/read_trace.h"
#include "traces_on_disk.h"

namespace telltale::oracle {
namespace {

class Trap : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Trap, gives_what_its_expectation_says) {
  std::filesystem::path expectation = GetParam();
  expectation.replace_extension(".expect");
  ASSERT_TRUE(std::filesystem::exists(expectation)) << "a trap needs " << expectation.filename();
  const auto facts = parse_facts(bytes_of(expectation));
  ASSERT_FALSE(facts.empty());
  const std::string text = bytes_of(GetParam());
  for (const ReadOptions& options : {with_threads(1), with_threads(4), with_threads(3, 64)}) {
    const auto result = read_trace(GetParam().string(), options);
    for (const std::string& sentence : broken_facts(facts, result, text))
      ADD_FAILURE() << expectation.filename().string() << ": " << sentence << " (" << options.threads
                    << " threads, blocks of " << options.block_bytes << " bytes)";
  }
}

std::string name_of_test(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Traps, Trap, testing::ValuesIn(trap_files()), name_of_test);

}  // namespace
}  // namespace telltale::oracle
