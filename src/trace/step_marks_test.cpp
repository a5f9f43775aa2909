#include "trace/step_marks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace telltale {
namespace {

// Events in the order of a trace: grouped by thread, outer before inner.
struct Sketch {
  Trace trace;

  TrackId thread() {
    trace.tracks.push_back({.kind = TrackKind::kThread, .first_event = static_cast<EventId>(trace.events.size())});
    return static_cast<TrackId>(trace.tracks.size() - 1);
  }
  EventId add(std::string_view name, Nanoseconds start, Nanoseconds end, Kind kind = Kind::kAnnotation,
              EventId cause = kNoEvent) {
    Events& events = trace.events;
    events.start.push_back(start);
    events.duration.push_back(end - start);
    events.name.push_back(trace.strings.intern(name));
    events.kind.push_back(kind);
    events.track.push_back(static_cast<TrackId>(trace.tracks.size() - 1));
    events.parent.push_back(kNoEvent);
    events.cause.push_back(cause);
    ++trace.tracks.back().event_count;
    return static_cast<EventId>(events.size() - 1);
  }
  // The steps as "number: start to end".
  std::vector<std::string> steps() const {
    std::vector<std::string> found;
    for (const Step& step : marked_steps(trace))
      found.push_back(std::to_string(step.index) + ": " + std::to_string(step.start) + " to " +
                      std::to_string(step.start + step.duration));
    return found;
  }
};

using Found = std::vector<std::string>;

TEST(StepNames, have_a_number) {
  EXPECT_EQ(step_number("ProfilerStep#7"), 7);
  EXPECT_EQ(step_number(step_name(120)), 120);
  for (const char* other : {"ProfilerStep#", "ProfilerStep#-1", "ProfilerStep#7a", "ProfilerStep# 7", "Step#7",
                            "ProfilerStep#99999999999999999999"})
    EXPECT_EQ(step_number(other), std::nullopt) << other;
  EXPECT_TRUE(is_step_name("ProfilerStep#x"));
  EXPECT_FALSE(is_step_name("ProfilerStep"));
}

TEST(StepNames, of_all_makers_are_known) {
  EXPECT_EQ(maker_of_mark("ProfilerStep#3"), MarkMaker::kTorch);
  EXPECT_EQ(maker_of_mark("execute_context_1(888)_generation_0(0)"), MarkMaker::kVllm);
  EXPECT_EQ(maker_of_mark("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk9sqsq1sqsk2)"), MarkMaker::kVllm);
  EXPECT_EQ(maker_of_mark("execute_new_1_cached_7"), MarkMaker::kVllm);
  EXPECT_EQ(maker_of_mark("step[DECODE bs=32]"), MarkMaker::kSglang);
  EXPECT_EQ(maker_of_mark("step[EXTEND bs=2 toks=14721]"), MarkMaker::kSglang);
  EXPECT_EQ(maker_of_mark("prefill[bs=2 tok=14721 ctx=[7803, 6918]]"), MarkMaker::kAtom);
  EXPECT_EQ(maker_of_mark("decode[bs=117/128 tok=117 d=117]"), MarkMaker::kAtom);
  EXPECT_EQ(maker_of_mark("eager_decode[bs=1]"), MarkMaker::kAtom);
  EXPECT_EQ(maker_of_mark("[pl][profile]run_training_batch"), MarkMaker::kLightning);
  EXPECT_EQ(maker_of_mark("[pl][profile][Strategy]DDPStrategy.validation_step"), MarkMaker::kLightning);
  EXPECT_EQ(maker_of_mark("[param|pytorch.model.alex_net|0|0|0|measure|forward]"), MarkMaker::kParam);
  for (const char* other :
       {"execute_model", "execute_dummy_batch", "step[3]", "prefill", "dummy_decode[bs=1]", "stepping bs=3",
        "[pl][profile]run_training_epoch", "[pl][profile][Strategy]DDPStrategy.training_step", "[param|clear_cache]",
        "[param|pytorch.model.alex_net|0|0|0|warmup|forward]", "aten::mm", ""})
    EXPECT_EQ(maker_of_mark(other), std::nullopt) << other;
}

TEST(AnnotationNames, are_those_that_torch_and_lightning_give_to_ranges) {
  for (const char* name :
       {"ProfilerStep#5", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "[pl][profile]run_training_batch"})
    EXPECT_TRUE(is_annotation_name(name)) << name;
  for (const char* name : {"aten::mm", "OptimizerBackward0", "enumerate"})
    EXPECT_FALSE(is_annotation_name(name)) << name;
}

TEST(MarkedSteps, have_the_numbers_in_their_names_or_their_places) {
  Sketch numbered;
  numbered.thread();
  numbered.add("ProfilerStep#5", 0, 10);
  numbered.add("ProfilerStep#x", 10, 15);
  numbered.add("ProfilerStep#6", 20, 30);
  EXPECT_EQ(numbered.steps(), (Found{"5: 0 to 10", "6: 20 to 30"}));
  Sketch placed;
  placed.thread();
  placed.add("execute_context_1(888)_generation_0(0)", 0, 10);
  placed.add("execute_context_0(0)_generation_1(1)", 12, 15);
  EXPECT_EQ(placed.steps(), (Found{"0: 0 to 10", "1: 12 to 15"}));
}

TEST(MarkedSteps, are_annotations_on_the_host) {
  Sketch sketch;
  sketch.thread();
  sketch.add("ProfilerStep#1", 0, 10, Kind::kDeviceAnnotation);
  sketch.add("step[DECODE bs=1]", 20, 30, Kind::kPython);
  EXPECT_EQ(sketch.steps(), Found{});
}

TEST(MarkedSteps, that_nest_count_once) {
  Sketch sketch;
  sketch.thread();
  sketch.add("[param|op|0|0|0|measure|forward]", 0, 80);
  sketch.add("[param|op|0|0|0|measure|forward]", 43, 79);
  sketch.add("[param|op|0|0|0|measure|forward]", 80, 120);
  EXPECT_EQ(sketch.steps(), (Found{"0: 0 to 80", "1: 80 to 120"}));
}

TEST(MarkedSteps, of_threads_that_take_turns_count_all) {
  Sketch sketch;
  sketch.thread();
  sketch.add("ProfilerStep#1", 0, 10);
  sketch.add("ProfilerStep#3", 20, 30);
  sketch.thread();
  sketch.add("ProfilerStep#2", 10, 20);
  EXPECT_EQ(sketch.steps(), (Found{"1: 0 to 10", "2: 10 to 20", "3: 20 to 30"}));
}

TEST(MarkedSteps, of_threads_at_the_same_time_are_those_that_launch_the_most) {
  Sketch sketch;
  sketch.thread();
  sketch.add("ProfilerStep#1", 0, 100);
  sketch.thread();
  sketch.add("ProfilerStep#1", 10, 60);
  const EventId inside = sketch.add("hipLaunchKernel", 12, 13, Kind::kRuntime);
  sketch.add("ProfilerStep#2", 110, 150);
  const EventId later = sketch.add("hipLaunchKernel", 112, 113, Kind::kRuntime);
  const EventId in_the_first = sketch.add("hipLaunchKernel", 70, 71, Kind::kRuntime);
  sketch.add("gemm", 20, 30, Kind::kKernel, inside);
  sketch.add("gemm", 120, 130, Kind::kKernel, later);
  sketch.add("gemm", 75, 76, Kind::kKernel, in_the_first);
  // Launched in the first thread's mark: at 12 and 70. In the second one's: at 12 and 112, in less time.
  EXPECT_EQ(sketch.steps(), (Found{"1: 0 to 100"}));
  sketch.add("gemm", 131, 132, Kind::kKernel, later);
  EXPECT_EQ(sketch.steps(), (Found{"1: 10 to 60", "2: 110 to 150"}));
}

TEST(MarkedSteps, of_torch_come_before_those_of_frameworks) {
  Sketch sketch;
  sketch.thread();
  sketch.add("ProfilerStep#1", 0, 100);
  for (const Nanoseconds at : {0, 30, 60}) sketch.add("[pl][profile]run_training_batch", at, at + 30);
  EXPECT_EQ(sketch.steps(), (Found{"1: 0 to 100"}));
}

TEST(MarkedSteps, of_several_frameworks_are_those_that_repeat_and_cover_the_most) {
  Sketch nested;
  nested.thread();
  nested.add("execute_32_context_0(sq0)_generation_32(sq32)", 0, 100);
  nested.add("step[DECODE bs=32]", 1, 99);
  EXPECT_EQ(nested.steps(), (Found{"0: 0 to 100"}));
  Sketch repeated;
  repeated.thread();
  repeated.add("[param|op|0|0|0|measure|forward]", 0, 100);
  repeated.add("step[DECODE bs=32]", 1, 20);
  repeated.add("step[DECODE bs=32]", 30, 50);
  EXPECT_EQ(repeated.steps(), (Found{"0: 1 to 20", "1: 30 to 50"}));
}

}  // namespace
}  // namespace telltale
