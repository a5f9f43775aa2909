#include <gtest/gtest.h>

#include <vector>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Chain {
  int kernels = 4;
  std::string_view kernel = "vectorized_elementwise_kernel";
  std::vector<std::string_view> shapes = {"[[1024,1024]]"};  // in turn
  Nanoseconds duration = 5 * kMillisecond;
  Nanoseconds preparing = 0;  // of the host, before each kernel
};

// A product of 10 ms and then the chain; the host waits for both.
Trace inference(const Chain& chain) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(9): activation");
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 10 * kMillisecond});
    for (int i = 0; i < chain.kernels; ++i) {
      program.spend(chain.preparing);
      program.kernel({.op = "aten::add",
                      .name = chain.kernel,
                      .duration = chain.duration,
                      .shapes = chain.shapes[static_cast<std::size_t>(i) % chain.shapes.size()]});
    }
    program.wait();
  }
  return program.build();
}

constexpr double kGuards = 0.1;  // what compiled code costs the host, which the waiting device feels

// Of four kernels of 5 ms, 0.9 of one and 0.12 of three others remain.
TEST(UnfusedElementwiseRule, a_chain_becomes_one_kernel) {
  const std::vector<Finding> findings = findings_of(inference({}), "unfused_elementwise");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 5 * (0.9 + 3 * 0.12) - kGuards, 0.02);
  EXPECT_EQ(findings[0].fix.id, "compile");
  EXPECT_EQ(findings[0].evidence.size(), 4);
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 9, "activation"}));
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].explanation,
            "Each kernel of a chain reads what the one before it wrote (4 kernels in 1 chain per step); as one kernel, "
            "a chain would move each tensor only once. Fusing them would save 46 % of the step.");
}

// Norms read their tensor twice whatever is done: 0.6 of each remains.
TEST(UnfusedElementwiseRule, norms_keep_more_of_their_time) {
  const std::vector<Finding> findings =
      findings_of(inference({.kernel = "vectorized_layer_norm_kernel"}), "unfused_elementwise");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * 0.4 - kGuards, 0.02);
}

TEST(UnfusedElementwiseRule, kernels_on_tensors_of_different_sizes_are_no_chain) {
  EXPECT_TRUE(findings_of(inference({.shapes = {"[[1024,1024]]", "[[1024,512]]"}}), "unfused_elementwise").empty());
}

TEST(UnfusedElementwiseRule, two_kernels_are_no_chain) {
  EXPECT_TRUE(findings_of(inference({.kernels = 2}), "unfused_elementwise").empty());
}

TEST(UnfusedElementwiseRule, is_silent_about_little_time_and_about_what_is_compiled_already) {
  EXPECT_TRUE(findings_of(inference({.duration = 100 * kMicrosecond}), "unfused_elementwise").empty());
  EXPECT_TRUE(findings_of(inference({.kernel = "triton_poi_fused_add_0"}), "unfused_elementwise").empty());
}

// The host prepares for 20 ms what takes the device 10 + 20: with all of it in one kernel, the host is what is left.
const Chain kBehindBusyHost = {.duration = 5 * kMillisecond, .preparing = 5 * kMillisecond};

TEST(UnfusedElementwiseRule, proposes_graphs_where_the_host_is_busy) {
  const std::vector<Finding> findings = findings_of(inference(kBehindBusyHost), "unfused_elementwise");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "compile_graphs");
  EXPECT_NE(findings[0].explanation.find("torch.compile alone would save "), std::string::npos);
}

const RuleSample kABusyHost("unfused_elementwise", "a busy host", [] { return inference(kBehindBusyHost); });
const RuleSample kOneChainPerStep("unfused_elementwise", "one chain per step", [] { return inference({}); });
const RuleSample kTwoChainsPerStep("unfused_elementwise", "two chains per step", [] {
  return inference({.kernels = 6, .shapes = {"[[1024,1024]]", "[[1024,512]]"}});
});

}  // namespace
}  // namespace telltale
