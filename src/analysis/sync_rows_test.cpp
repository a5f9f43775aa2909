#include "analysis/sync_rows.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(SyncRows, sums_up_a_step_by_the_operator_that_waits) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto item = sketch.op(thread, "aten::item", 0, 50);
  const auto item_call = sketch.event(thread, Kind::kRuntime, "cudaStreamSynchronize", 10, 40);
  const auto again = sketch.op(thread, "aten::item", 100, 170);
  const auto again_call = sketch.event(thread, Kind::kRuntime, "cudaStreamSynchronize", 110, 160);
  const auto bare_call = sketch.event(thread, Kind::kRuntime, "cudaDeviceSynchronize", 200, 290);
  const Trace trace = sketch.build();
  StepTiming timing;
  timing.periods = 2;

  const std::vector<SyncRow> rows = sync_rows(trace, timing,
                                              {{sketch.id(item_call), sketch.id(item), 30, 6},
                                               {sketch.id(again_call), sketch.id(again), 50, 4},
                                               {sketch.id(bare_call), kNoEvent, 90, 0}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "aten::item");
  EXPECT_DOUBLE_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].waited_ns, 40);
  EXPECT_EQ(rows[0].idle_ns, 5);
  EXPECT_EQ(rows[0].example, sketch.id(item_call));
  EXPECT_EQ(rows[1].name, "cudaDeviceSynchronize");
  EXPECT_DOUBLE_EQ(rows[1].calls, 0.5);
  EXPECT_EQ(rows[1].waited_ns, 45);
}

TEST(SyncRows, of_no_syncs_are_none) { EXPECT_TRUE(sync_rows(Trace(), StepTiming(), {}).empty()); }

}  // namespace
}  // namespace telltale
