#include "advise/models/graph_model.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Inference {
  int steps = 3;
  bool changes = false;  // another kernel in the last step
  bool waits = false;
  bool loads = false;  // waits within the loader
  bool allocates = false;
};

Trace inference(const Inference& options) {
  ProgramSketch program;
  for (int step = 0; step < options.steps; ++step) {
    program.begin_step();
    if (options.loads) {
      program.open(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
      program.wait();
      program.close();
    }
    for (int i = 0; i < 10; ++i) {
      program.run(Kind::kPython, "model.py(4): forward", 95 * kMicrosecond);
      const bool is_other = options.changes && step == options.steps - 1 && i == 5;
      program.kernel({.op = "aten::mm", .name = is_other ? "other" : "gemm", .duration = 20 * kMicrosecond});
    }
    if (options.allocates) {
      program.run(Kind::kRuntime, "cudaMalloc", 5 * kMicrosecond);
      program.sketch().allocate(program.thread(), program.now(), 1'000'000, 0, 64);
    }
    if (options.waits) program.wait();
  }
  return program.build();
}

bool can_be_captured(const Inference& options) {
  return captured_in_graph(KnownTrace(inference(options)).facts).has_value();
}

// 10 kernels of 20 µs with 0.3 µs between them.
TEST(GraphModel, a_captured_step_takes_what_its_kernels_take) {
  const KnownTrace known(inference({}));
  const std::optional<Edit> edit = captured_in_graph(known.facts);
  ASSERT_TRUE(edit);
  EXPECT_NEAR(known.period_ms(*edit), 0.203, 0.001);
}

TEST(GraphModel, steps_have_to_launch_the_same_kernels_in_the_same_order) {
  EXPECT_FALSE(can_be_captured({.changes = true}));
  EXPECT_FALSE(can_be_captured({.steps = 1}));
  EXPECT_TRUE(can_be_captured({.steps = 2}));
}

TEST(GraphModel, a_wait_cannot_be_captured_but_may_stand_in_the_loader) {
  EXPECT_FALSE(can_be_captured({.waits = true}));
  EXPECT_TRUE(can_be_captured({.loads = true}));
}

TEST(GraphModel, memory_cannot_be_asked_of_the_driver_within_a_graph) {
  EXPECT_FALSE(can_be_captured({.allocates = true}));
}

TEST(GraphModel, nothing_is_captured_twice_and_nothing_out_of_nothing) {
  Trace trace = inference({});
  trace.graph_nodes.append(0, {1, 2});
  EXPECT_FALSE(captured_in_graph(KnownTrace(std::move(trace)).facts));
  EXPECT_FALSE(captured_in_graph(KnownTrace(TraceSketch().build()).facts));
}

}  // namespace
}  // namespace telltale
