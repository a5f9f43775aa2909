#include "analysis/recompilation.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(Recompilation, is_in_the_steps_in_which_a_compiler_is_at_work) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kAnnotation, "torch.compile (dynamo_timed)", 110, 190);
  sketch.event(thread, Kind::kRuntime, "cuLibraryLoadData", 210, 220);
  sketch.event(thread, Kind::kPython, "torch/_dynamo/convert_frame.py(900): compile_inner", 310, 320);
  const Trace trace = sketch.build();
  const std::vector<Interval> steps = {{0, 100}, {100, 200}, {200, 300}, {300, 400}};
  EXPECT_EQ(compiling_steps(trace, steps), (std::vector<bool>{false, true, false, true}));
}

TEST(Recompilation, goes_on_when_a_third_step_compiles_or_a_second_one_does_late) {
  EXPECT_FALSE(keeps_compiling({}));
  EXPECT_FALSE(keeps_compiling({true, true, false, false}));
  EXPECT_TRUE(keeps_compiling({true, true, true, false, false, false}));
  EXPECT_TRUE(keeps_compiling({true, false, true, false}));
  EXPECT_FALSE(keeps_compiling({false, false, false, true}));
}

}  // namespace
}  // namespace telltale
