#include "serve/parameters.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace telltale::serve {
namespace {

std::string problem_of(const Parameters& parameters) {
  const auto problem = parameters.problem();
  return problem ? problem->message : "";
}

TEST(Parameters, are_read_by_name) {
  Parameters parameters("level=12&tracks=1,2,30&q=a%20b%26c+d&exact=1&order=rising&empty=");
  EXPECT_EQ(parameters.whole<std::uint8_t>("level"), 12);
  EXPECT_EQ(parameters.wholes<std::uint32_t>("tracks"), (std::vector<std::uint32_t>{1, 2, 30}));
  EXPECT_EQ(parameters.text("q"), "a b&c d");
  EXPECT_TRUE(parameters.flag("exact"));
  EXPECT_EQ(parameters.choice("order", {"falling", "rising"}), "rising");
  EXPECT_EQ(parameters.needed_text("empty"), "");
  EXPECT_EQ(problem_of(parameters), "");
}

TEST(Parameters, may_be_left_out) {
  Parameters parameters("");
  EXPECT_EQ(parameters.whole<int>("level"), std::nullopt);
  EXPECT_EQ(parameters.text("q"), std::nullopt);
  EXPECT_TRUE(parameters.wholes<int>("tracks").empty());
  EXPECT_FALSE(parameters.flag("exact"));
  EXPECT_EQ(parameters.choice("order", {"falling", "rising"}), "falling");
  EXPECT_EQ(problem_of(parameters), "");
}

TEST(Parameters, that_are_needed_are_named_where_they_are_missing) {
  Parameters parameters("x=1");
  EXPECT_EQ(parameters.needed_whole<int>("level"), 0);
  EXPECT_EQ(problem_of(parameters), "level is missing");
}

TEST(Parameters, that_nobody_asks_for_are_named) {
  Parameters parameters("levle=3");
  EXPECT_EQ(parameters.whole<int>("level"), std::nullopt);
  EXPECT_EQ(problem_of(parameters), "there is no parameter 'levle'; did you mean 'level'?");
}

TEST(Parameters, hold_what_their_type_can_hold) {
  for (const char* value : {"256", "-1", "", "1.5", "1 ", "+1", "0x1", "one", "99999999999999999999", "1e3"}) {
    Parameters parameters(std::string("level=") + value);
    EXPECT_EQ(parameters.whole<std::uint8_t>("level"), std::nullopt) << value;
    EXPECT_TRUE(problem_of(parameters).starts_with("level takes a whole number from 0 to 255, not '")) << value;
  }
  Parameters largest("a=9223372036854775807&b=-9223372036854775808&c=4294967295");
  EXPECT_EQ(largest.whole<std::int64_t>("a"), INT64_MAX);
  EXPECT_EQ(largest.whole<std::int64_t>("b"), INT64_MIN);
  EXPECT_EQ(largest.whole<std::uint32_t>("c"), UINT32_MAX);
  EXPECT_EQ(problem_of(largest), "");
}

TEST(Parameters, in_lists_are_whole_numbers_each) {
  for (const char* value : {"1,", ",1", "1,,2", "1,x", "1, 2", "-1,2"}) {
    Parameters parameters(std::string("tracks=") + value);
    EXPECT_TRUE(parameters.wholes<std::uint32_t>("tracks").empty()) << value;
    EXPECT_NE(problem_of(parameters).find("with commas between them"), std::string::npos) << value;
  }
}

TEST(Parameters, that_make_no_sense_are_refused_in_a_sentence) {
  EXPECT_EQ(problem_of(Parameters("q=%4")), "a % without two hexadecimal digits behind it stands in 'q=%4'");
  EXPECT_EQ(problem_of(Parameters("q=%zz")), "a % without two hexadecimal digits behind it stands in 'q=%zz'");
  EXPECT_EQ(problem_of(Parameters("q=1&q=2")), "'q' is given twice");
  Parameters choice("order=up");
  choice.choice("order", {"falling", "rising"});
  EXPECT_EQ(problem_of(choice), "order takes falling or rising, not 'up'");
}

TEST(Parameters, of_any_bytes_become_text_that_can_be_shown) {
  Parameters parameters("q=%ff%1b[31m");
  EXPECT_EQ(parameters.text("q"), "\xEF\xBF\xBD\x1b[31m");
  Parameters malformed("level=%1b%5b31m" + std::string(500, 'x'));
  malformed.whole<int>("level");
  EXPECT_EQ(problem_of(malformed).find('\x1b'), std::string::npos);
  EXPECT_LT(problem_of(malformed).size(), 200U);
}

}  // namespace
}  // namespace telltale::serve
