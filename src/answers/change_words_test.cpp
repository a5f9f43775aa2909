#include "answers/change_words.h"

#include <gtest/gtest.h>

namespace telltale::answers {
namespace {

TEST(ParsedPattern, takes_a_kind_before_the_first_colon) {
  EXPECT_EQ(parsed_pattern("kernel:*gemm*").kind, Kind::kKernel);
  EXPECT_EQ(parsed_pattern("kernel:*gemm*").name, "*gemm*");
  EXPECT_EQ(parsed_pattern("operator:aten::mm").kind, Kind::kOperator);
  EXPECT_EQ(parsed_pattern("operator:aten::mm").name, "aten::mm");
}

TEST(ParsedPattern, takes_names_with_colons_for_names) {
  for (const char* name : {"aten::mm", "train.py(7): log", "device::reduce", "gemm", ":", ""}) {
    EXPECT_EQ(parsed_pattern(name).kind, std::nullopt) << name;
    EXPECT_EQ(parsed_pattern(name).name, name);
  }
}

TEST(ParsedScaling, takes_a_factor_behind_the_last_equals_sign) {
  const auto scaling = parsed_scaling("kernel:*mode=fast*=0.5");
  ASSERT_TRUE(scaling);
  EXPECT_EQ(scaling->pattern.name, "*mode=fast*");
  EXPECT_EQ(scaling->pattern.kind, Kind::kKernel);
  EXPECT_EQ(scaling->factor, 0.5);
  EXPECT_EQ(parsed_scaling("a=2")->factor, 2);
  EXPECT_EQ(parsed_scaling("a=0")->factor, 0);
  EXPECT_EQ(parsed_scaling("a=10000")->factor, 10000);
}

TEST(ParsedScaling, refuses_what_is_no_factor) {
  for (const char* text :
       {"", "a", "=0.5", "a=", "a=x", "a=0.5x", "a=-1", "a=inf", "a=nan", "a=1e999", "a= 1", "a=10001", "a=1e300"})
    EXPECT_FALSE(parsed_scaling(text)) << text;
}

}  // namespace
}  // namespace telltale::answers
