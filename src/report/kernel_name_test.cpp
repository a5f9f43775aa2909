#include "report/kernel_name.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

constexpr std::string_view kMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, "
    "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, "
    "std::array<char*, 2ul>)";

TEST(KernelName, says_what_an_elementwise_kernel_computes) {
  EXPECT_EQ(short_kernel_name(kMul), "vectorized_elementwise_kernel<MulFunctor>");
}

TEST(KernelName, finds_the_function_that_a_lambda_stands_in) {
  EXPECT_EQ(short_kernel_name(
                "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
                "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
                "at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#9}::operator()() "
                "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, int)"),
            "vectorized_elementwise_kernel<launch_clamp_scalar>");
}

TEST(KernelName, looks_through_wrappers) {
  EXPECT_EQ(
      short_kernel_name("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
                        "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
                        "c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
                        "c10::BFloat16, 4, 8> >(at::native::ReduceOp<int>)"),
      "reduce_kernel<sum_functor>");
}

TEST(KernelName, keeps_types_where_nothing_else_tells_kernels_apart) {
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, "
                              "float, 10, true, false>(c10::BFloat16*, c10::BFloat16 const*, int)"),
            "softmax_warp_forward<BFloat16, BFloat16, float, 10, true, false>");
  EXPECT_EQ(short_kernel_name("void cudnn::cnn::reduce<float, (cudnn::Type)0>(void*)"), "reduce<float, 0>");
}

TEST(KernelName, leaves_names_alone_that_are_no_signatures) {
  for (const std::string_view name : {"nvjet_sm90_tst_96x64_64x8_1x1_h_ssched_bz_NNN", "Memset (Device)",
                                      "Memcpy DtoH (Device -> Pinned)", "triton_poi_fused_add_0", "", "a b c"}) {
    EXPECT_EQ(short_kernel_name(name), name);
    EXPECT_EQ(medium_kernel_name(name), name);
  }
}

TEST(KernelName, is_demangled) {
  EXPECT_EQ(short_kernel_name("_ZN2at6native12gemm_forwardIfEEvPT_i"), "gemm_forward<float>");
  EXPECT_EQ(short_kernel_name("_Znonsense"), "_Znonsense");
}

TEST(KernelName, of_medium_length_keeps_all_template_arguments) {
  EXPECT_EQ(medium_kernel_name(kMul),
            "vectorized_elementwise_kernel<4, AUnaryFunctor<float, float, float, MulFunctor<float>>, "
            "array<char*, 2ul>>");
}

TEST(KernelName, survives_unbalanced_brackets) {
  for (const std::string_view name : {"a::b<", "a::b<c(", ">a::b", "a::<>::b(", "a<b>>c::d", "<<<", "::", "a::{"}) {
    short_kernel_name(name);
    medium_kernel_name(name);
  }
  const std::string deep(100'000, '<');
  EXPECT_EQ(short_kernel_name(deep), deep);
}

}  // namespace
}  // namespace telltale
