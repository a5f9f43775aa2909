#include "advise/patterns/device_work.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kSlow = "ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_tn";
constexpr std::string_view kFast = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn";

bool is_misaligned(std::string_view kernel, std::string_view shapes, std::string_view op = "aten::mm") {
  ProgramSketch program;
  program.begin_step();
  program.kernel({.op = op, .name = kernel, .duration = kMillisecond, .shapes = shapes});
  const KnownTrace known(program.build());
  return is_misaligned_product(known.facts, known.diagnosis.kernels.calls.at(0));
}

TEST(KernelAlignment, a_kernel_for_odd_widths_and_an_odd_width_make_a_misaligned_product) {
  EXPECT_TRUE(is_misaligned(kSlow, "[[64,1023],[1023,64]]"));
  EXPECT_TRUE(
      is_misaligned("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align2", "[[64,64],[64,50]]"));
}

TEST(KernelAlignment, the_kernel_has_to_be_one_of_the_slow_ones) {
  EXPECT_FALSE(is_misaligned(kFast, "[[64,1023],[1023,64]]"));
  EXPECT_FALSE(is_misaligned("ampere_sgemm_128x64_tn_align1", "[[64,1023],[1023,64]]")) << "not in 16 bits";
}

TEST(KernelAlignment, widths_that_are_multiples_of_eight_are_not_to_blame) {
  EXPECT_FALSE(is_misaligned(kSlow, "[[64,1024],[1024,64]]"));
  EXPECT_FALSE(is_misaligned(kSlow, "[[3,64,1024],[3,1024,64]]")) << "the number of matrices does not matter";
}

TEST(KernelAlignment, without_shapes_the_kernel_speaks_for_itself) { EXPECT_TRUE(is_misaligned(kSlow, {})); }

}  // namespace
}  // namespace telltale
