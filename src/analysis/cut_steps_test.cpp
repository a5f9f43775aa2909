#include "analysis/cut_steps.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Steps of 100 ns with four launches each; the recorder is gone when so many kernels are done.
struct Program {
  TraceSketch sketch;
  TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  std::vector<Interval> steps;

  Program(int count, int kernels_done) {
    for (int step = 0; step < count; ++step) {
      steps.push_back({100 * step, 100 * step + 100});
      for (int i = 0; i < 4; ++i) {
        const Nanoseconds at = 100 * step + 20 * i;
        const auto call = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at, at + 5);
        if (kernels_done-- > 0) sketch.work(stream, Kind::kKernel, "gemm", 2 * at + 50, 2 * at + 80, call);
      }
    }
  }
};

TEST(CutSteps, are_the_last_ones_whose_work_was_not_recorded) {
  Program all(5, 20);
  EXPECT_EQ(cut_steps(all.sketch.build(), all.steps).last, 0);
  Program some(5, 10);  // two whole steps and half of the third
  EXPECT_EQ(cut_steps(some.sketch.build(), some.steps).last, 3);
}

TEST(CutSteps, are_none_where_work_is_missing_from_the_first_one_on) {
  Program program(5, 1);
  EXPECT_EQ(cut_steps(program.sketch.build(), program.steps).last, 0);
}

TEST(CutSteps, are_the_first_one_that_waits_for_work_of_before) {
  for (const Nanoseconds earlier : {3, 30}) {
    Program program(4, 16);
    program.sketch.event(program.stream, Kind::kKernel, "gemm", 0, 90 + earlier);
    program.sketch.event(program.thread, Kind::kRuntime, "cudaStreamSynchronize", 90, 98);
    EXPECT_EQ(cut_steps(program.sketch.build(), program.steps).first, earlier < 5 ? 0 : 1) << earlier;
  }
}

TEST(CutSteps, is_not_the_first_one_where_no_step_can_be_spared) {
  Program program(2, 8);
  program.sketch.event(program.stream, Kind::kKernel, "gemm", 0, 95);
  program.sketch.event(program.thread, Kind::kRuntime, "cudaStreamSynchronize", 85, 98);
  EXPECT_EQ(cut_steps(program.sketch.build(), program.steps).first, 0);
}

}  // namespace
}  // namespace telltale
