#include "memory/stack_words.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

TEST(StackWords, of_several_frames_the_part_that_explains_the_others_decides) {
  EXPECT_EQ(part_of_stack("model.py(3): forward;torch/nn/modules/module.py(9): _call_impl"), StackPart::kForward);
  EXPECT_EQ(part_of_stack("torch/nn/modules/module.py(9): _call_impl;torch/autograd/graph.py(8): _engine_run_backward"),
            StackPart::kBackward);
  EXPECT_EQ(part_of_stack("/opt/lib/torch/optim/adam.py(8): step"), StackPart::kOptimizer);
  EXPECT_EQ(part_of_stack("optim/mine.py(8): step"), StackPart::kUnknown);
  EXPECT_EQ(part_of_stack(""), StackPart::kNothing);
  EXPECT_EQ(part_of_stack(";;(): "), StackPart::kUnknown);
}

TEST(StackWords, the_line_is_the_innermost_one_of_the_users) {
  const auto line = line_of_stack("torch/nn/functional.py(1): linear;model.py(7): forward;train.py(9): main");
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, (SourceLine{"model.py", 7, "forward"}));
  EXPECT_EQ(line_of_stack("torch/nn/functional.py(1): linear")->line, 1);
  EXPECT_FALSE(line_of_stack("at::native::empty()"));
  EXPECT_FALSE(line_of_stack(""));
}

TEST(StackWords, the_line_is_not_one_of_compiled_code_that_python_runs_through) {
  constexpr const char* kBelow = "?\?(0): torch::unwind::unwind();CUDACachingAllocator.cpp(0): malloc;";
  constexpr const char* kBetween = "/usr/src/python/Objects/call.c(267): PyVectorcall_Call;";
  const std::string below = kBelow, between = kBetween;
  EXPECT_EQ(line_of_stack(below + between + "model.py(7): forward;" + between + "train.py(9): main")->line, 7);
  EXPECT_EQ(line_of_stack(below + "site-packages/transformers/models/llama/modeling_llama.py(728): forward;" + between +
                          "train.py(9): main")
                ->line,
            728);
  EXPECT_EQ(line_of_stack(below + between + "torch/nn/functional.py(1): linear")->file, "torch/nn/functional.py");
  EXPECT_EQ(*line_of_stack(below + "server.cpp(31): answer"), (SourceLine{"server.cpp", 31, "answer"}));
  EXPECT_FALSE(line_of_stack(below));
  EXPECT_FALSE(line_of_stack(below + "../src/c++11/thread.cc(82): execute_native_thread_routine"));
}

}  // namespace
}  // namespace telltale
