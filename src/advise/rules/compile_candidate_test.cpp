#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kMisaligned = "ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_tn";

struct Inference {
  std::string_view kernel = "gemm";
  std::string_view first_kernel = {};  // of a step, where it is another
  Nanoseconds duration = 10 * kMicrosecond;
  int waits = 0;  // a step, within the forward pass
};

// 20 kernels a step, each of which costs the host 100 µs.
Trace inference(const Inference& options) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    for (int i = 0; i < 20; ++i) {
      if (i == 10)
        for (int wait = 0; wait < options.waits; ++wait) program.wait();
      program.open(Kind::kOperator, "aten::linear");
      program.spend(95 * kMicrosecond);
      const bool is_other = i == 0 && !options.first_kernel.empty();
      program.launch("cudaLaunchKernel", Kind::kKernel, is_other ? options.first_kernel : options.kernel,
                     options.duration);
      program.close();
    }
  }
  return program.build();
}

// Unobserved, a kernel costs the host 8 µs less; with graphs, kernels follow one another by 0.3 µs.
TEST(CompileCandidateRule, graphs_leave_the_kernels_alone_where_the_host_is_the_bottleneck) {
  const std::vector<Finding> findings = findings_of(inference({}), "compile_candidate");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * (0.1 - 0.008 - 0.0103), 0.01);
  EXPECT_EQ(findings[0].fix.id, "compile_graphs");
}

// The device works for 20 · 1.001 ms a step; of products with odd widths a fifth remains.
TEST(CompileCandidateRule, padding_alone_is_worth_it_and_needs_no_graphs) {
  const std::vector<Finding> findings =
      findings_of(inference({.kernel = kMisaligned, .duration = kMillisecond}), "compile_candidate");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * 0.8, 0.05);
  EXPECT_EQ(findings[0].fix.id, "compile");
}

TEST(CompileCandidateRule, is_silent_where_launches_hide_behind_the_device) {
  EXPECT_TRUE(findings_of(inference({.duration = 300 * kMicrosecond}), "compile_candidate").empty());
}

TEST(CompileCandidateRule, is_silent_where_waits_cut_the_forward_pass_to_pieces) {
  EXPECT_FALSE(findings_of(inference({.waits = 2}), "compile_candidate").empty());
  EXPECT_TRUE(findings_of(inference({.waits = 3}), "compile_candidate").empty());
}

TEST(CompileCandidateRule, is_silent_about_what_is_compiled_already) {
  EXPECT_TRUE(findings_of(inference({.kernel = "triton_poi_fused_add_relu_0"}), "compile_candidate").empty());
}

// Chains that are worth compiling by themselves belong to unfused_elementwise.
TEST(CompileCandidateRule, leaves_chains_to_others) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 5; ++i)
      program.kernel({.op = "aten::add", .name = "elementwise_kernel", .duration = 2 * kMillisecond});
  }
  EXPECT_TRUE(findings_of(program.build(), "compile_candidate").empty());
}

const RuleSample kTheHostIsTheBottleneck("compile_candidate", "the host is the bottleneck",
                                         [] { return inference({}); });
const RuleSample kOddWidths("compile_candidate", "odd widths",
                            [] { return inference({.kernel = kMisaligned, .duration = kMillisecond}); });
const RuleSample kAChainAndTheHostIsTheBottleneck("compile_candidate", "a chain, and the host is the bottleneck", [] {
  return inference({.kernel = "vectorized_elementwise_kernel", .first_kernel = "gemm"});
});

}  // namespace
}  // namespace telltale
