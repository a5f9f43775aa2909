#include "analysis/first_step.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"
#include "trace/own_recordings.h"

namespace telltale {
namespace {

// A program that was recorded from the import of torch on: building takes 700, a step 100.
class RecordedFromStart {
 public:
  RecordedFromStart() : thread_(sketch_.thread("main")) {
    sketch_.trace().metadata = {{std::string(kFromStart), "\"true\""}};
    op("aten::uniform_", 500);
    op("aten::uniform_", 600);
  }
  void op(std::string_view name, Nanoseconds start) { sketch_.op(thread_, name, start, start + 20); }
  void mark(std::string_view name, Nanoseconds start, Nanoseconds end) {
    sketch_.event(thread_, Kind::kAnnotation, name, start, end);
  }
  FoundSteps steps() { return found_steps(sketch_.build()); }

 private:
  TraceSketch sketch_;
  TrackId thread_;
};

TEST(FirstStep, begins_as_the_second_does_and_not_with_the_import) {
  RecordedFromStart program;
  program.mark("ProfilerStep#0", 0, 800);
  for (const Nanoseconds step : {700, 800}) {
    program.op("aten::randn", step + 10);
    program.op("aten::mm", step + 40);
  }
  program.mark("ProfilerStep#1", 800, 900);
  const FoundSteps found = program.steps();
  ASSERT_EQ(found.steps.size(), 2);
  EXPECT_EQ(found.steps[0].host, (Interval{710, 800}));
  EXPECT_EQ(found.steps[1].host, (Interval{800, 900}));
}

TEST(FirstStep, has_as_many_batches_as_the_second) {
  RecordedFromStart program;
  program.mark("ProfilerStep#0", 0, 800);
  program.op("aten::stack", 650);  // once while the data are prepared
  for (const Nanoseconds step : {700, 800}) {
    program.op("aten::stack", step + 10);
    program.op("aten::stack", step + 50);
  }
  program.mark("ProfilerStep#1", 800, 900);
  EXPECT_EQ(program.steps().steps[0].host.begin, 710);
}

TEST(FirstStep, need_not_have_what_the_second_begins_with) {
  RecordedFromStart program;
  program.mark("ProfilerStep#0", 0, 800);
  program.op("aten::mm", 740);
  program.op("aten::zero_", 805);  // gradients of the step before
  program.op("aten::mm", 840);
  program.mark("ProfilerStep#1", 800, 900);
  EXPECT_EQ(program.steps().steps[0].host.begin, 740);
}

TEST(FirstStep, is_none_when_the_model_is_built_in_it) {
  RecordedFromStart program;
  program.mark("ProfilerStep#0", 0, 700);
  for (const Nanoseconds step : {700, 800}) {
    program.mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", step, step + 30);
    program.op("aten::mm", step + 40);
  }
  program.mark("ProfilerStep#1", 700, 800);
  program.mark("ProfilerStep#2", 800, 900);
  const FoundSteps found = program.steps();
  ASSERT_EQ(found.steps.size(), 2);
  EXPECT_EQ(found.steps[0].index, 1);
}

TEST(FirstStep, begins_with_its_first_operator_when_it_is_the_only_one) {
  RecordedFromStart program;
  program.mark("ProfilerStep#0", 0, 800);
  EXPECT_EQ(program.steps().steps[0].host.begin, 500);
}

TEST(FirstStep, of_a_program_without_steps_begins_with_its_first_operator) {
  const FoundSteps found = RecordedFromStart().steps();
  EXPECT_EQ(found.source, StepSource::kWhole);
  EXPECT_EQ(found.steps[0].host, (Interval{500, 620}));
}

}  // namespace
}  // namespace telltale
