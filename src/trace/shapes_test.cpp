#include "trace/shapes.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(Shapes, an_argument_that_is_no_tensor_has_an_empty_shape) {
  EXPECT_EQ(tensor_shapes("[[16,1000],[],[7]]"), (std::vector<Shape>{{16, 1000}, {}, {7}}));
  EXPECT_EQ(tensor_shapes("[ [16, 1000], [] ]"), (std::vector<Shape>{{16, 1000}, {}}));
}

TEST(Shapes, a_list_of_tensors_has_an_empty_shape_as_in_torch) {
  EXPECT_EQ(tensor_shapes("[[[3,4],[5]],[2]]"), (std::vector<Shape>{{}, {2}}));
}

TEST(Shapes, text_that_is_no_list_gives_no_shapes) {
  EXPECT_TRUE(tensor_shapes("").empty());
  EXPECT_TRUE(tensor_shapes("[]").empty());
  EXPECT_TRUE(tensor_shapes("nonsense").empty());
  EXPECT_TRUE(tensor_shapes("[[1,2").empty());
  EXPECT_EQ(tensor_shapes("[[1,x],3]"), (std::vector<Shape>{{}, {}}));
}

TEST(Shapes, concrete_values_keep_commas_brackets_and_quotes_inside_strings) {
  EXPECT_EQ(concrete_values(R"(["","2","[2, 2]","a\"b],"])"), (std::vector<std::string>{"", "2", "[2, 2]", "a\"b],"}));
}

TEST(Shapes, whole_numbers_refuse_anything_else) {
  EXPECT_EQ(whole_numbers("[2, -1]"), (Shape{2, -1}));
  EXPECT_TRUE(whole_numbers("[2.5]").empty());
  EXPECT_TRUE(whole_numbers("[99999999999999999999]").empty());
}

TEST(Shapes, are_printed_as_torch_prints_them) {
  EXPECT_EQ(to_string(std::vector<Shape>{{16, 1000}, {}, {7}}), "[[16, 1000], [], [7]]");
  EXPECT_EQ(to_string(std::vector<Shape>{{}, {2}}), "[[], [2]]");
  EXPECT_EQ(to_string(std::vector<Shape>{}), "[]");
}

}  // namespace
}  // namespace telltale
