#include "analysis/found_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

struct Program {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");

  void range(std::string_view name, Nanoseconds start, Nanoseconds end) {
    sketch.event(main, Kind::kAnnotation, name, start, end);
  }
  void mark(int number, Nanoseconds start, Nanoseconds end) {
    range("ProfilerStep#" + std::to_string(number), start, end);
  }
  FoundSteps steps() { return found_steps(sketch.build()); }
};

std::vector<Interval> spans(const FoundSteps& found) {
  std::vector<Interval> spans;
  for (const FoundStep& step : found.steps) spans.push_back(step.host);
  return spans;
}

using Spans = std::vector<Interval>;

TEST(FoundSteps, are_the_marks_where_there_are_any) {
  Program program;
  program.mark(7, 100, 200);
  program.mark(8, 200, 320);
  for (const Nanoseconds at : {150, 250}) program.range("Optimizer.step#SGD.step", at, at + 10);
  const FoundSteps found = program.steps();
  EXPECT_EQ(found.source, StepSource::kMarks);
  EXPECT_EQ(spans(found), (Spans{{100, 200}, {200, 320}}));
  EXPECT_EQ(found.steps[1].index, 8);
}

TEST(FoundSteps, last_until_the_next_mark) {
  Program program;
  for (int i = 0; i < 4; ++i) program.range("step[DECODE bs=8]", 100 * i, 100 * i + 70);
  EXPECT_EQ(spans(program.steps()), (Spans{{0, 100}, {100, 200}, {200, 300}, {300, 370}}));
}

// Marks of 70 with 30 between them, as usual, and once 66: 1 more than a usual gap and half a mark.
TEST(FoundSteps, end_with_their_mark_before_a_pause) {
  Program program;
  const std::vector<Nanoseconds> starts = {0, 100, 200, 336, 436};
  for (const Nanoseconds start : starts) program.range("step[DECODE bs=8]", start, start + 70);
  EXPECT_EQ(spans(program.steps()), (Spans{{0, 100}, {100, 200}, {200, 270}, {336, 436}, {436, 506}}));
}

TEST(FoundSteps, go_from_the_end_of_one_optimizer_step_to_that_of_the_next_where_there_are_no_marks) {
  Program program;
  for (const Nanoseconds at : {80, 180, 300}) program.range("Optimizer.step#AdamW.step", at, at + 20);
  const FoundSteps found = program.steps();
  EXPECT_EQ(found.source, StepSource::kOptimizer);
  EXPECT_EQ(spans(found), (Spans{{100, 200}, {200, 320}}));
}

TEST(FoundSteps, are_one_for_each_turn_of_several_optimizers) {
  Program program;
  for (const Nanoseconds at : {0, 100, 200}) {
    program.range("Optimizer.step#SGD.step", at + 50, at + 60);
    program.range("Optimizer.step#AdamW.step", at + 70, at + 80);
  }
  EXPECT_EQ(spans(program.steps()), (Spans{{80, 180}, {180, 280}}));
}

TEST(FoundSteps, are_one_where_a_single_optimizer_step_takes_several_batches) {
  Program program;
  for (const Nanoseconds at : {0, 100, 200, 300}) program.range("forward and backward", at, at + 90);
  program.range("Optimizer.step#AdamW.step", 390, 400);
  const FoundSteps found = program.steps();
  EXPECT_EQ(found.source, StepSource::kWhole);
  EXPECT_EQ(spans(found), (Spans{{0, 400}}));
}

TEST(FoundSteps, of_lightning_are_batches_unless_the_optimizer_takes_several) {
  Program batches, accumulated;
  for (int i = 0; i < 8; ++i) {
    const Nanoseconds at = 100 * i;
    batches.range("[pl][profile]run_training_batch", at, at + 100);
    batches.range("Optimizer.step#AdamW.step", at + 80, at + 90);
    accumulated.range("[pl][profile]run_training_batch", at, at + 100);
    if (i % 4 == 3) accumulated.range("Optimizer.step#AdamW.step", at + 80, at + 90);
  }
  const FoundSteps marked = batches.steps(), taken = accumulated.steps();
  EXPECT_EQ(marked.source, StepSource::kMarks);
  EXPECT_EQ(marked.steps.size(), 8);
  EXPECT_EQ(taken.source, StepSource::kOptimizer);
  EXPECT_EQ(spans(taken), (Spans{{390, 790}}));
}

TEST(FoundSteps, are_what_repeats_where_nothing_marks_them) {
  Program program;
  for (const Nanoseconds at : {0, 100, 200}) program.range("forward", at, at + 90);
  const FoundSteps found = program.steps();
  EXPECT_EQ(found.source, StepSource::kPattern);
  EXPECT_EQ(spans(found), (Spans{{0, 100}, {100, 200}, {200, 290}}));
  EXPECT_EQ(found.steps[2].index, 2);
}

TEST(FoundSteps, are_the_whole_trace_where_nothing_repeats) {
  Program program;
  program.range("forward", 10, 90);
  const FoundSteps found = program.steps();
  EXPECT_EQ(found.source, StepSource::kWhole);
  EXPECT_EQ(spans(found), (Spans{{0, 90}}));
}

TEST(StepSource, has_words) {
  EXPECT_EQ(name_of(StepSource::kMarks), "marks");
  EXPECT_EQ(name_of(StepSource::kOptimizer), "optimizer");
  EXPECT_EQ(name_of(StepSource::kPattern), "pattern");
  EXPECT_EQ(name_of(StepSource::kParts), "parts");
  EXPECT_EQ(name_of(StepSource::kWhole), "whole_trace");
}

}  // namespace
}  // namespace telltale
