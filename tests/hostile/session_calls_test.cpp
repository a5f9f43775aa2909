// Some of the sequences of calls that fuzz/fuzz_session.cpp tries, the same ones each time.
#include "session_calls.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace telltale {
namespace {

class SessionCallsTest : public testing::TestWithParam<unsigned> {};

TEST_P(SessionCallsTest, do_what_a_simple_model_says) {
  constexpr int kSequences = 20;
  std::mt19937 random(GetParam());
  for (int sequence = 0; sequence < kSequences; ++sequence) {
    std::vector<std::uint8_t> bytes(20 + random() % 300);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    fuzzing::run_session_calls(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SessionCallsTest, testing::Values(1u, 2u, 3u, 4u));

}  // namespace
}  // namespace telltale
