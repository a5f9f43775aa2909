#include <gtest/gtest.h>

#include <string_view>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Serving {
  std::string_view reads = "torch/serialization.py(1561): load";
  bool puts_into_model = true;
  int every = 1;  // steps
  bool trains = false;
};

// Requests of 10 ms, of which 2 ms read a file and 1 puts what it holds into the model.
Trace serving(const Serving& options) {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "serve.py(9): answer");
    if (step % options.every == 0) {
      program.open(Kind::kPython, options.reads);
      program.run(Kind::kPython, "torch/serialization.py(900): read", 2 * kMillisecond);
      program.close();
      if (options.puts_into_model) {
        program.open(Kind::kPython, "torch/nn/modules/module.py(2618): load_state_dict");
        program.run(Kind::kOperator, "aten::copy_", 1 * kMillisecond);
        program.close();
      }
    }
    program.open(Kind::kModule, "nn.Module: Net_0");
    program.run(Kind::kOperator, "aten::addmm", 7 * kMillisecond);
    program.close();
    if (options.trains) program.run(Kind::kAnnotation, "Optimizer.step#SGD.step", 1 * kMillisecond);
    program.close();
  }
  return program.build();
}

TEST(FileLoadingRule, saves_reading_weights_and_putting_them_into_the_model) {
  const std::vector<Finding> findings = findings_of(serving({}), "file_loading");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 3, 0.005);
  EXPECT_EQ(findings[0].fix.id, "load_once");
  EXPECT_EQ(findings[0].title, "Weights are read from a file for every request");
  EXPECT_EQ(findings[0].source, (SourceLine{"serve.py", 9, "answer"}));
}

TEST(FileLoadingRule, knows_other_readers_and_what_is_no_weight) {
  for (const std::string_view reads : {"safetensors/torch.py(300): load_file", "torch/jit/_serialization.py(90): load",
                                       "transformers/modeling_utils.py(270): from_pretrained"}) {
    const std::vector<Finding> findings =
        findings_of(serving({.reads = reads, .puts_into_model = false}), "file_loading");
    ASSERT_EQ(findings.size(), 1) << reads;
    EXPECT_NEAR(likely_ms(findings[0]), 2, 0.005);
    EXPECT_EQ(findings[0].title, "Tensors are read from a file for every request");
  }
}

TEST(FileLoadingRule, is_silent_about_what_is_read_now_and_then_and_about_saving) {
  EXPECT_TRUE(findings_of(serving({.every = 3}), "file_loading").empty());
  EXPECT_TRUE(
      findings_of(serving({.reads = "torch/serialization.py(800): save", .puts_into_model = false}), "file_loading")
          .empty());
}

// A copy of a network that follows it is given its weights from memory.
TEST(FileLoadingRule, is_silent_about_states_that_no_file_has) {
  EXPECT_TRUE(findings_of(serving({.reads = "net.py(3): state"}), "file_loading").empty());
}

const RuleSample kWeights("file_loading", "weights for each request", [] { return serving({}); });
const RuleSample kTraining("file_loading", "weights in training", [] { return serving({.trains = true}); });
const RuleSample kTensors("file_loading", "tensors", [] { return serving({.puts_into_model = false}); });

}  // namespace
}  // namespace telltale
