#include "analysis/step_range.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

//   main      [train                                            ]
//             [ProfilerStep#1    ][ProfilerStep#2    ]  [after]
//               launch 1            launch 2
//   stream               [gpu step 1    ][gpu step 2       ]
//                         [kernel 1    ]  [kernel 2]
class StepSelectionTest : public testing::Test {
 protected:
  void SetUp() override {
    const TrackId main = sketch_.thread("main"), stream = sketch_.stream(0, 7);
    train_ = sketch_.event(main, Kind::kAnnotation, "train", 0, 1000);
    first_ = sketch_.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 400);
    second_ = sketch_.event(main, Kind::kAnnotation, "ProfilerStep#2", 400, 800);
    after_ = sketch_.op(main, "after", 900, 950);
    const auto launch_1 = sketch_.event(main, Kind::kRuntime, "launch 1", 50, 60);
    const auto launch_2 = sketch_.event(main, Kind::kRuntime, "launch 2", 450, 460);
    gpu_1_ = sketch_.event(stream, Kind::kDeviceAnnotation, "ProfilerStep#1", 200, 500);
    gpu_2_ = sketch_.event(stream, Kind::kDeviceAnnotation, "ProfilerStep#2", 500, 900);
    kernel_1_ = sketch_.work(stream, Kind::kKernel, "kernel 1", 210, 500, launch_1);
    kernel_2_ = sketch_.work(stream, Kind::kKernel, "kernel 2", 510, 900, launch_2);
    loose_ = sketch_.event(stream, Kind::kKernel, "no launch", 300, 310);
    trace_ = sketch_.build();
  }

  bool keeps(const Selection& selection, TraceSketch::Handle event) const {
    return selection.events[sketch_.id(event)];
  }

  TraceSketch sketch_;
  Trace trace_;
  TraceSketch::Handle train_ = 0, first_ = 0, second_ = 0, after_ = 0, gpu_1_ = 0, gpu_2_ = 0, kernel_1_ = 0,
                      kernel_2_ = 0, loose_ = 0;
};

TEST_F(StepSelectionTest, has_the_step_and_what_it_runs_inside_of) {
  const Selection second = selection_of(trace_, StepRange{2, 2});
  EXPECT_TRUE(keeps(second, train_));
  EXPECT_TRUE(keeps(second, second_));
  EXPECT_FALSE(keeps(second, first_));
  EXPECT_FALSE(keeps(second, after_));
  EXPECT_EQ(second.windows, (std::vector<Interval>{{400, 800}}));
}

TEST_F(StepSelectionTest, has_device_work_where_it_was_launched) {
  const Selection first = selection_of(trace_, StepRange{1, 1}), second = selection_of(trace_, StepRange{2, 2});
  EXPECT_TRUE(keeps(first, kernel_1_));  // runs into step 2
  EXPECT_FALSE(keeps(second, kernel_1_));
  EXPECT_TRUE(keeps(second, kernel_2_));
  EXPECT_TRUE(keeps(first, loose_));  // nobody knows its launch, so it is where it ran
  EXPECT_FALSE(keeps(second, loose_));
}

TEST_F(StepSelectionTest, has_annotations_on_the_device_around_its_work) {
  const Selection second = selection_of(trace_, StepRange{2, 2});
  EXPECT_TRUE(keeps(second, gpu_2_));
  EXPECT_FALSE(keeps(second, gpu_1_));
}

TEST_F(StepSelectionTest, joins_neighboring_steps) {
  const Selection both = selection_of(trace_, StepRange{1, 2});
  EXPECT_EQ(both.windows, (std::vector<Interval>{{0, 800}}));
  EXPECT_FALSE(keeps(both, after_));
  EXPECT_TRUE(keeps(both, kernel_2_));
}

TEST_F(StepSelectionTest, makes_a_slice_with_those_steps) {
  const Trace part = slice(trace_, selection_of(trace_, StepRange{2, 2}));
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].index, 2);
  EXPECT_EQ(part.name(part.steps[0].event), "ProfilerStep#2");
}

}  // namespace

}  // namespace telltale
