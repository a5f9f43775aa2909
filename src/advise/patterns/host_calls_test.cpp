#include "advise/patterns/host_calls.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kShort = 100 * kMicrosecond;

TEST(UserPython, is_the_outermost_call_of_the_users_that_makes_no_operator) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kPython, "train.py(1): step");  // calls an operator
  const auto weights = program.open(Kind::kPython, "train.py(20): weights");
  program.run(Kind::kPython, "train.py(30): weight", kShort);
  program.run(Kind::kPython, "<built-in function pow>", kShort);
  program.close();
  program.kernel("aten::mm", kShort);
  program.run(Kind::kPython, "torch/nn/functional.py(5): softmax", kShort);
  const auto names = program.run(Kind::kPython, "train.py(40): names", kShort);
  program.close();
  const KnownTrace known(program.build());
  EXPECT_EQ(known.facts.user_python(), (std::vector<EventId>{program.id(weights), program.id(names)}));
}

TEST(UserPython, is_also_what_a_function_of_the_users_calls_of_other_libraries) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kPython, "train.py(1): sample");  // calls an operator
  const auto stack = program.open(Kind::kPython, "numpy/_core/shape_base.py(378): stack");
  program.run(Kind::kPython, "numpy/_core/shape_base.py(20): arrays", kShort);
  program.close();
  program.run(Kind::kPython, "torch/_tensor.py(10): __hash__", kShort);
  program.kernel("aten::to", kShort);
  program.close();
  const KnownTrace known(program.build());
  EXPECT_EQ(known.facts.user_python(), std::vector<EventId>{program.id(stack)});
}

TEST(UserPython, a_call_into_the_devices_api_counts_like_an_operator) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kPython, "train.py(20): synchronize");
  program.wait();
  program.close();
  program.kernel("aten::mm", kShort);
  EXPECT_TRUE(KnownTrace(program.build()).facts.user_python().empty());
}

TEST(UserPython, leaves_out_loading_and_what_is_outside_of_the_steps) {
  ProgramSketch program;
  program.run(Kind::kPython, "train.py(1): set_up", kShort);
  program.begin_step();
  program.open(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  program.run(Kind::kPython, "data.py(7): __getitem__", kShort);
  program.close();
  program.kernel("aten::mm", kShort);
  EXPECT_TRUE(KnownTrace(program.build()).facts.user_python().empty());
}

}  // namespace
}  // namespace telltale
