#include "analysis/flops.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

std::optional<std::int64_t> flops_of(std::string_view name, std::string_view shapes, std::string_view concrete = {}) {
  return count_flops(flop_formula(name), shapes, concrete);
}

// The expected numbers are worked by hand: two operations for each multiply-add.
TEST(Flops, of_a_matrix_product_are_two_for_each_multiply_add) {
  EXPECT_EQ(flops_of("aten::mm", "[[3,4],[4,5]]"), 2 * 3 * 4 * 5);
  EXPECT_EQ(flops_of("aten::addmm", "[[5],[3,4],[4,5],[],[]]"), 2 * 3 * 4 * 5);
}

TEST(Flops, of_a_batched_product_count_the_batch_once) {
  EXPECT_EQ(flops_of("aten::bmm", "[[7,3,4],[7,4,5]]"), 2 * 7 * 3 * 4 * 5);
  EXPECT_EQ(flops_of("aten::baddbmm", "[[7,3,5],[7,3,4],[7,4,5],[],[]]"), 2 * 7 * 3 * 4 * 5);
}

TEST(Flops, of_an_elementwise_operator_are_the_elements_of_its_first_argument) {
  EXPECT_EQ(flops_of("aten::mul", "[[256,1024],[]]"), 256 * 1024);
  EXPECT_EQ(flops_of("aten::add", "[[],[]]"), 1);
}

TEST(Flops, of_a_convolution_follow_stride_padding_dilation_and_groups) {
  // Rows of output: (9 + 2*1 - 2*2 - 1) / 2 + 1 = 4; columns: (8 + 0 - 1*2 - 1) / 1 + 1 = 6.
  EXPECT_EQ(
      flops_of("aten::conv2d", "[[2,6,9,8],[4,3,3,3],[],[],[],[],[]]", R"(["","","","[2, 1]","[1, 0]","[2, 1]","2"])"),
      2LL * 2 * 4 * 6 * 3 * 3 * 6 * 4 / 2);
}

TEST(Flops, are_unknown_for_operators_without_a_formula) { EXPECT_EQ(flops_of("aten::relu", "[[3,4]]"), std::nullopt); }

TEST(Flops, are_unknown_when_shapes_or_values_are_missing) {
  EXPECT_EQ(flops_of("aten::mm", ""), std::nullopt);
  EXPECT_EQ(flops_of("aten::mm", "[[3,4]]"), std::nullopt);
  EXPECT_EQ(flops_of("aten::mm", "[[],[]]"), std::nullopt);
  EXPECT_EQ(flops_of("aten::conv2d", "[[2,6,9,8],[4,3,3,3],[],[],[],[],[]]"), std::nullopt);
  EXPECT_EQ(
      flops_of("aten::conv2d", "[[2,6,9,8],[4,3,3,3],[],[],[],[],[]]", R"(["","","","[0, 0]","[1, 0]","[2, 1]","2"])"),
      std::nullopt);
}

TEST(Flops, are_unknown_when_the_number_does_not_fit) {
  EXPECT_EQ(flops_of("aten::mm", "[[4000000000,4000000000],[4000000000,4000000000]]"), std::nullopt);
  EXPECT_EQ(flops_of("aten::mul", "[[-3]]"), std::nullopt);
}

}  // namespace
}  // namespace telltale
