#include "report/shown_names.h"

#include <gtest/gtest.h>

#include "report/text_width.h"

namespace telltale {
namespace {

using Names = std::vector<std::string>;

TEST(ShownNames, lose_what_every_name_of_their_kind_has) {
  EXPECT_EQ(shortened_names({{Kind::kModule, "nn.Module: Linear_3"},
                             {Kind::kPython, "/usr/lib/torch/nn/modules/module.py(1775): _call_impl"},
                             {Kind::kPython, "<built-in method linear of type object at 0x7f>"},
                             {Kind::kOperator, "aten::mm"},
                             {Kind::kKernel, "void at::native::fill<float>(int)"}}),
            (Names{"Linear_3", "modules/module.py(1775): _call_impl", "<built-in method linear>", "aten::mm",
                   "fill<float>"}));
}

TEST(ShownNames, stay_longer_where_short_ones_would_coincide) {
  EXPECT_EQ(shortened_names({{Kind::kKernel, "void k<4, MulFunctor<float> >(int)"},
                             {Kind::kKernel, "void k<8, MulFunctor<float> >(int)"},
                             {Kind::kKernel, "void k<8, AddFunctor<float> >(int)"}}),
            (Names{"k<4, MulFunctor<float>>", "k<8, MulFunctor<float>>", "k<AddFunctor>"}));
}

TEST(ShownNames, cannot_steer_the_terminal) {
  EXPECT_EQ(shortened_names({{Kind::kAnnotation, "evil\x1b[2J"}}), Names{"evil·[2J"});
}

TEST(ShownNames, that_fit_are_left_alone) {
  EXPECT_EQ(fitted_names({"short", "also short"}, 10), (Names{"short", "also short"}));
}

TEST(ShownNames, are_cut_at_the_end_when_that_tells_them_apart) {
  EXPECT_EQ(fitted_names({"first_very_long_name", "second_very_long_name"}, 14),
            (Names{"first_very_lo…", "second_very_l…"}));
}

TEST(ShownNames, that_differ_late_are_cut_in_the_middle) {
  const Names fitted = fitted_names({"autograd::engine::evaluate_function: MulBackward0",
                                     "autograd::engine::evaluate_function: AddBackward0", "aten::mm"},
                                    24);
  EXPECT_EQ(fitted, (Names{"autograd…n: MulBackward0", "autograd…n: AddBackward0", "aten::mm"}));
}

TEST(ShownNames, keep_what_a_kernel_computes) {
  EXPECT_EQ(fitted_names({"vectorized_elementwise_kernel<MulFunctor>"}, 30), Names{"vectorized_elemen…<MulFunctor>"});
  EXPECT_EQ(fitted_names({"kernel<all of this is too long to be kept>"}, 20), Names{"kernel<all of this …"});
}

TEST(ShownNames, keep_as_much_of_their_beginning_as_fits) {
  EXPECT_EQ(fitted_names({"aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward"}, 28),
            (Names{"aten::max_pool2d_with_in…ces", "aten::max_pool2…ces_backward"}));
}

TEST(ShownNames, never_exceed_the_width) {
  const Names names = {std::string(300, 'x') + "1", std::string(300, 'x') + "2", "日本日本日本日本日本日本"};
  for (std::size_t width = 0; width < 40; ++width) {
    for (const std::string& name : fitted_names(names, width)) EXPECT_LE(display_width(name), width);
  }
}

}  // namespace
}  // namespace telltale
