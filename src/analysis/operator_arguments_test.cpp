#include "analysis/operator_arguments.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

std::optional<double> bytes_of(std::string_view name, const OperatorTexts& texts) {
  return moved_bytes(name, OperatorArguments(texts));
}

// The expected numbers are worked by hand: elements times bytes, read + written.
TEST(MovedBytes, of_elementwise_operators_are_all_inputs_and_the_stretched_result) {
  EXPECT_EQ(bytes_of("add", {.shapes = "[[3,4],[4],[]]", .types = R"(["float","float","Scalar"])"}),
            12 * 4 + 4 * 4 + 12 * 4);
  EXPECT_EQ(bytes_of("mul", {.shapes = "[[5,1],[1,6]]", .types = R"(["c10::Half","c10::Half"])"}),
            5 * 2 + 6 * 2 + 30 * 2);
}

TEST(MovedBytes, of_a_result_are_those_of_the_widest_tensor_but_not_of_a_number) {
  EXPECT_EQ(bytes_of("add", {.shapes = "[[10],[10],[]]", .types = R"(["float","c10::BFloat16","Scalar"])"}),
            10 * 4 + 10 * 2 + 10 * 4);
  EXPECT_EQ(bytes_of("mul", {.shapes = "[[10],[]]", .types = R"(["c10::BFloat16","double"])"}), 10 * 2 + 8 + 10 * 2);
  EXPECT_EQ(bytes_of("gt", {.shapes = "[[10],[]]", .types = R"(["float","Scalar"])"}), 10 * 4 + 10);
}

TEST(MovedBytes, of_operators_in_place_are_written_where_they_were_read) {
  EXPECT_EQ(bytes_of("add_", {.shapes = "[[10],[10],[]]", .types = R"(["c10::BFloat16","float","Scalar"])"}),
            10 * 2 + 10 * 4 + 10 * 2);
  EXPECT_EQ(bytes_of("clamp_min_", {.shapes = "[[10],[]]", .types = R"(["float","Scalar"])"}), 2 * 10 * 4);
}

TEST(MovedBytes, of_copies_and_fills_do_not_read_what_they_overwrite) {
  EXPECT_EQ(bytes_of("copy_", {.shapes = "[[10],[10],[]]", .types = R"(["float","c10::BFloat16","Scalar"])"}),
            10 * 4 + 10 * 2);
  EXPECT_EQ(bytes_of("zero_", {.shapes = "[[10]]", .types = R"(["float"])"}), 10 * 4);
}

TEST(MovedBytes, of_an_expanded_tensor_are_read_once) {
  EXPECT_EQ(
      bytes_of("mul", {.shapes = "[[8,10],[8,10]]", .strides = "[[10,1],[0,1]]", .types = R"(["float","float"])"}),
      80 * 4 + 10 * 4 + 80 * 4);
}

TEST(MovedBytes, of_reductions_are_written_only_where_dimensions_are_left) {
  EXPECT_EQ(bytes_of("sum", {.shapes = "[[8,10],[],[],[]]",
                             .types = R"(["float","ScalarList","Scalar",""])",
                             .concrete = R"(["","[-2]","True",""])"}),
            80 * 4 + 10 * 4);
  EXPECT_EQ(bytes_of("mean", {.shapes = "[[8,10],[]]", .types = R"(["float",""])"}), 80 * 4 + 4);
}

TEST(MovedBytes, of_normalizations_and_softmax_keep_the_shape_of_the_input) {
  EXPECT_EQ(bytes_of("_softmax", {.shapes = "[[8,10],[],[]]", .types = R"(["float","Scalar","Scalar"])"}), 2 * 80 * 4);
  EXPECT_EQ(bytes_of("native_layer_norm", {.shapes = "[[8,10],[],[10],[10],[]]",
                                           .types = R"(["c10::BFloat16","ScalarList","float","float","Scalar"])"}),
            80 * 2 + 2 * 10 * 4 + 80 * 2);
  EXPECT_EQ(bytes_of("native_dropout", {.shapes = "[[80],[],[]]", .types = R"(["float","Scalar","Scalar"])"}),
            2 * 80 * 4 + 80);
}

TEST(MovedBytes, are_unknown_where_nothing_tells_them) {
  EXPECT_EQ(bytes_of("add", {.shapes = "[[10],[10]]"}), std::nullopt);  // no types
  EXPECT_EQ(bytes_of("copy_", {.shapes = "[[10],[10]]", .types = R"(["float",""])"}), std::nullopt);
  EXPECT_EQ(bytes_of("zero_", {.shapes = "[[10]]", .types = R"(["TensorList"])"}), std::nullopt);
  EXPECT_EQ(bytes_of("nonzero", {.shapes = "[[10]]", .types = R"(["float"])"}), std::nullopt);
  EXPECT_EQ(bytes_of("sum", {.shapes = "", .types = ""}), std::nullopt);
}

}  // namespace

}  // namespace telltale
