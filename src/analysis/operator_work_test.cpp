#include "analysis/operator_work.h"

#include <fmt/format.h>
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

constexpr std::string_view kThreeBf16 = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

// The expected numbers are worked by hand: two operations a multiply-add, elements times bytes.
TEST(OperatorWork, of_products_counts_multiply_adds_and_three_matrices) {
  const OperatorWork mm = operator_work("aten::mm", {.shapes = "[[3,4],[4,5]]", .types = R"(["float","float"])"});
  EXPECT_EQ(mm.flops, 2 * 3 * 4 * 5);
  EXPECT_EQ(mm.bytes, (3 * 4 + 4 * 5 + 3 * 5) * 4);
  const OperatorWork addmm = operator_work("aten::addmm", {.shapes = "[[5],[3,4],[4,5],[],[]]", .types = kThreeBf16});
  EXPECT_EQ(addmm.flops, 2 * 3 * 4 * 5);
  EXPECT_EQ(addmm.bytes, (5 + 3 * 4 + 4 * 5 + 3 * 5) * 2);
  const OperatorWork bmm = operator_work("aten::bmm", {.shapes = "[[7,3,4],[7,4,5]]", .types = R"(["float","float"])"});
  EXPECT_EQ(bmm.flops, 2 * 7 * 3 * 4 * 5);
  EXPECT_EQ(bmm.bytes, 7 * (3 * 4 + 4 * 5 + 3 * 5) * 4);
  const OperatorWork linear = operator_work("aten::linear", {.shapes = "[[2,3,4],[5,4],[5]]", .types = kThreeBf16});
  EXPECT_EQ(linear.flops, 2 * (2 * 3) * 4 * 5);
  EXPECT_EQ(linear.bytes, (2 * 3 * 4 + 5 * 4 + 5 + 2 * 3 * 5) * 2);
}

TEST(OperatorWork, agrees_with_torchs_formulas_where_it_has_some) {
  struct Case {
    std::string_view name, shapes, concrete;
  };
  for (const auto& [name, shapes, concrete] : {
           Case{"aten::mm", "[[3,4],[4,5]]", ""},
           Case{"aten::addmm", "[[5],[3,4],[4,5],[],[]]", ""},
           Case{"aten::bmm", "[[7,3,4],[7,4,5]]", ""},
           Case{"aten::baddbmm", "[[7,3,5],[7,3,4],[7,4,5],[],[]]", ""},
           Case{"aten::conv2d", "[[2,6,9,8],[4,3,3,3],[],[],[],[],[]]", R"(["","","","[2, 1]","[1, 0]","[2, 1]","2"])"},
       }) {
    const auto torchs = count_flops(flop_formula(name), shapes, concrete);
    ASSERT_TRUE(torchs) << name;
    EXPECT_EQ(operator_work(name, {.shapes = shapes, .concrete = concrete}).flops, static_cast<double>(*torchs))
        << name;
  }
}

TEST(OperatorWork, of_convolutions_knows_where_each_operator_has_its_arguments) {
  // Output: (9 + 2*1 - 3) / 2 + 1 = 5 rows, (8 + 0 - 3) / 1 + 1 = 6 columns.
  constexpr double kFlops = 2.0 * 2 * 4 * 5 * 6 * 6 * 3 * 3,
                   kBytes = 2 * (2 * 6 * 9 * 8 + 4 * 6 * 3 * 3 + 2 * 4 * 5 * 6);
  constexpr std::string_view kShapes = "[[2,6,9,8],[4,6,3,3],[],[],[],[],[],[],[]]";
  constexpr std::string_view kTypes = R"(["c10::Half","c10::Half"])";
  const OperatorWork plain =
      operator_work("aten::convolution", {.shapes = kShapes,
                                          .types = kTypes,
                                          .concrete = R"(["","","","[2, 1]","[1, 0]","[1, 1]","False","[0, 0]","1"])"});
  EXPECT_EQ(plain.flops, kFlops);
  EXPECT_EQ(plain.bytes, kBytes);
  const OperatorWork cudnn =
      operator_work("aten::cudnn_convolution",
                    {.shapes = kShapes, .types = kTypes, .concrete = R"(["","","[1, 0]","[2, 1]","[1, 1]","1"])"});
  EXPECT_EQ(cudnn, plain);
  const OperatorWork on_cpu =
      operator_work("aten::mkldnn_convolution",
                    {.shapes = kShapes, .types = kTypes, .concrete = R"(["","","","[1, 0]","[2, 1]","[1, 1]","1"])"});
  EXPECT_EQ(on_cpu, plain);
}

TEST(OperatorWork, of_a_convolution_that_steps_over_its_input_reads_only_what_it_uses) {
  const OperatorWork work =
      operator_work("aten::cudnn_convolution", {.shapes = "[[1,8,6,6],[4,8,1,1],[],[],[],[]]",
                                                .types = R"(["float","float"])",
                                                .concrete = R"(["","","[0, 0]","[2, 2]","[1, 1]","1"])"});
  EXPECT_EQ(work.bytes, 4 * (8 * 3 * 3 + 4 * 8 + 4 * 3 * 3));
}

TEST(OperatorWork, of_a_transposed_convolution_meets_the_weight_from_the_input) {
  const OperatorWork work =
      operator_work("aten::convolution", {.shapes = "[[2,6,9,8],[6,4,3,3],[],[],[],[],[],[],[]]",
                                          .types = R"(["float","float"])",
                                          .concrete = R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[0, 0]","1"])"});
  EXPECT_EQ(work.flops, 2.0 * (2 * 6 * 9 * 8) * 4 * 3 * 3);
}

TEST(OperatorWork, of_a_convolutions_backward_is_one_forward_for_each_gradient_asked_for) {
  const auto work = [](std::string_view mask) {
    const std::string concrete =
        R"(["","","","[0]","[2, 1]","[1, 0]","[1, 1]","False","[0, 0]","1",")" + std::string(mask) + "\"]";
    return operator_work(
        "aten::convolution_backward",
        {.shapes = "[[2,4,5,6],[2,6,9,8],[4,6,3,3]]", .types = R"(["float","float","float"])", .concrete = concrete});
  };
  constexpr double kForward = 2.0 * 2 * 4 * 5 * 6 * 6 * 3 * 3;
  constexpr double kGradient = 2 * 4 * 5 * 6, kInput = 2 * 6 * 9 * 8, kWeight = 4 * 6 * 3 * 3;
  EXPECT_EQ(work("[True, True, False]").flops, 2 * kForward);
  EXPECT_EQ(work("[True, True, False]").bytes, 4 * (kGradient + 2 * kInput + 2 * kWeight));
  EXPECT_EQ(work("[False, True, False]").flops, kForward);
  EXPECT_EQ(work("[False, True, False]").bytes, 4 * (kGradient + kInput + 2 * kWeight));
  EXPECT_EQ(work("[True, False, False]").flops, kForward);
  EXPECT_EQ(work("[").flops, 0);
  EXPECT_EQ(work("").flops, 2 * kForward);
}

TEST(OperatorWork, of_attention_is_two_products_and_half_of_them_when_causal) {
  constexpr double kProduct = 2.0 * 4 * 12 * 1024 * 1024 * 64, kTensor = 4.0 * 12 * 1024 * 64;
  const auto work = [](std::string_view causal) {
    const std::string concrete =
        R"(["","","","","","","1024","1024","True","0.",")" + std::string(causal) + R"(","False","0.125"])";
    return operator_work("aten::_cudnn_attention_forward",
                         {.shapes = "[[4,12,1024,64],[4,12,1024,64],[4,12,1024,64],[],[],[],[],[],[],[],[],[],[]]",
                          .types = kThreeBf16,
                          .concrete = concrete});
  };
  EXPECT_EQ(work("False").flops, 2 * kProduct);
  EXPECT_EQ(work("True").flops, kProduct);
  EXPECT_EQ(work("True").bytes, 4 * kTensor * 2);
}

TEST(OperatorWork, of_attention_on_a_cpu_knows_its_mark_of_causality) {
  constexpr double kProduct = 2.0 * 4 * 12 * 100 * 100 * 64;
  constexpr std::string_view kTensor = "[4,12,100,64]", kFloats = R"(["float","float","float","float"])";
  const std::string three = fmt::format("{0},{0},{0}", kTensor);
  const OperatorWork forward = operator_work(
      "aten::_scaled_dot_product_flash_attention_for_cpu",
      {.shapes = "[" + three + ",[],[]]", .types = kFloats, .concrete = R"(["","","","0.","True","",""])"});
  EXPECT_EQ(forward.flops, kProduct);
  const OperatorWork backward = operator_work("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                                              {.shapes = fmt::format("[{},{}]", kTensor, three),
                                               .types = kFloats,
                                               .concrete = R"(["","","","","","","0.","True","",""])"});
  EXPECT_EQ(backward.flops, 2.5 * kProduct);
}

TEST(OperatorWork, of_attention_knows_which_operators_have_heads_behind_the_length) {
  const OperatorWork work =
      operator_work("aten::_efficient_attention_backward",
                    {.shapes = "[[8,512,12,64],[8,512,12,64],[8,256,12,64],[8,256,12,64],[],[8,512,12,64]]",
                     .types = R"(["float","float","float","float","","float"])",
                     .concrete = R"(["","","","","","","","","512","256","","0.","","","0","False","0.125"])"});
  EXPECT_EQ(work.flops, 2.5 * 2 * 2.0 * 8 * 12 * 512 * 256 * 64);
  EXPECT_EQ(work.bytes, 4.0 * 2 * (2 * 8 * 512 * 12 * 64 + 2 * 8 * 256 * 12 * 64));
}

TEST(OperatorWork, of_a_fused_kernel_of_inductor_is_what_its_arguments_hold) {
  const OperatorWork work =
      operator_work("triton_poi_fused_add_0",
                    {.shapes = "[[100],[100],[10],[]]", .types = R"(["c10::BFloat16","float","float","Scalar"])"});
  EXPECT_EQ(work.flops, std::nullopt);
  EXPECT_EQ(work.bytes, 100 * 2 + 100 * 4 + 10 * 4);
}

TEST(OperatorWork, of_elementwise_operators_is_what_they_move) {
  const OperatorWork work = operator_work("aten::relu", {.shapes = "[[10]]", .types = R"(["float"])"});
  EXPECT_EQ(work.flops, std::nullopt);
  EXPECT_EQ(work.bytes, 2 * 10 * 4);
}

TEST(OperatorWork, is_absent_where_shapes_do_not_say_it) {
  for (const std::string_view name :
       {"aten::mm", "aten::linear", "aten::cudnn_convolution", "aten::convolution_backward",
        "aten::_flash_attention_forward", "aten::relu", "mylib::mm", "triton_x", ""}) {
    EXPECT_EQ(operator_work(name, {}), OperatorWork{}) << name;
    EXPECT_EQ(operator_work(name, {.shapes = "[[],[[3],[4]],[5]]"}), OperatorWork{}) << name;
  }
  EXPECT_EQ(operator_work("aten::cudnn_convolution",
                          {.shapes = "[[2,6,9,8],[4,6,3,3]]", .concrete = R"(["","","[1, 0]","[0, 1]","[1, 1]"])"}),
            OperatorWork{});                                                              // stride 0
  EXPECT_EQ(operator_work("aten::mm", {.shapes = "[[3,4],[4,5]]"}).bytes, std::nullopt);  // no types
}

}  // namespace

}  // namespace telltale
