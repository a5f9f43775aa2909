#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"

namespace telltale::tell {
namespace {

using testing::read_bytes;
using testing::RecordsSketch;
using testing::rows;
using testing::simple_recording;
using testing::TellSketch;
using testing::varint;
using testing::zigzagged;
using Lines = std::vector<std::string>;

constexpr int kInteger = 0, kName = 4;
constexpr int kAnnotation = 2, kOperator = 3, kPython = 4, kModule = 5, kRuntime = 6;
constexpr std::int64_t kMainThread = 77;

// A recording of the thread "main" and of what a sampler saw. Times are those of the trace as long as something happens
// at 0. Scopes are given in the order of their ends.
class SeenProgram {
 public:
  SeenProgram() { sketch_.thread(1, kMainThread, "main").thread(2, 78, "sampler").track(9, 2, 0, "samples", -1, 1); }

  // An operator that was called from a stack, innermost frame first; `kept` < 0: it does not say.
  SeenProgram& op(std::int64_t start, std::int64_t end, const std::string& stack, int kept) {
    const bool says = kept >= 0;
    std::vector<testing::FieldSketch> fields{{"Call stack", kName}};
    if (says) fields.push_back({"Frames kept", kInteger});
    const auto site = sketch_.site("op", {"", "", "", 0, kOperator, fields});
    main_.span(site, at(start), static_cast<std::uint64_t>(end - start),
               varint(sketch_.string(stack)) + (says ? zigzagged(kept) : ""));
    return *this;
  }
  SeenProgram& scope(int kind, const std::string& name, std::int64_t start, std::int64_t end) {
    const auto site = sketch_.site(name, {"", "", "", 0, kind, {}});
    main_.span(site, at(start), static_cast<std::uint64_t>(end - start));
    return *this;
  }
  SeenProgram& sample(std::int64_t time, const std::string& stack, const std::string& waits_for = "",
                      std::int64_t thread = kMainThread) {
    if (sample_site_ == 0)
      sample_site_ = sketch_.site(
          "sample",
          {"",
           "",
           "",
           0,
           0,
           {{"Thread", kInteger}, {"Call stack", kName}, {"Waits for", kName}, {"Processor time", kInteger}}});
    sampler_.span_on(
        9, sample_site_, at(time), 0, 0,
        zigzagged(thread) + varint(sketch_.string(stack)) + varint(sketch_.string(waits_for)) + zigzagged(1000));
    return *this;
  }

  std::string bytes() { return sketch_.records(main_).records(sampler_).end(kOrigin + 1'000'000).bytes(); }
  Trace trace() {
    auto trace = read_bytes(bytes());
    EXPECT_TRUE(trace);
    return trace ? std::move(*trace) : Trace();
  }

 private:
  static constexpr std::uint64_t kOrigin = 1'000'000;
  static std::uint64_t at(std::int64_t time) { return kOrigin + static_cast<std::uint64_t>(time); }

  TellSketch sketch_ = simple_recording();
  RecordsSketch main_{1}, sampler_{2};
  std::uint64_t sample_site_ = 0;
};

// All but operators.
Lines calls(const Trace& trace) {
  Lines lines = rows(trace);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("operator"); });
  return lines;
}

std::string place_of(const Trace& trace, std::string_view name) {
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const std::uint32_t* place = trace.name(event) == name ? trace.sources.find(event) : nullptr;
    if (place == nullptr) continue;
    const SourceLocation& location = trace.source_locations[*place];
    return std::string(trace.strings[location.file]) + ':' + std::to_string(location.line) + ' ' +
           std::string(trace.strings[location.function]);
  }
  return "(none)";
}

TEST(SampledCalls, last_as_long_as_operators_share_them) {
  const Trace trace = SeenProgram()
                          .op(0, 100, "t.py(12): step;t.py(30): main", 0)
                          .op(200, 300, "t.py(14): step;t.py(30): main", 2)
                          .op(400, 500, "t.py(31): main", 1)
                          .trace();
  EXPECT_EQ(rows(trace),
            (Lines{"python t.py(30): main 0+500 on main", "python t.py(12): step 0+300 on main",
                   "operator op 0+100 on main", "operator op 200+100 on main", "operator op 400+100 on main"}));
  EXPECT_EQ(trace.events.parent, (std::vector<EventId>{kNoEvent, 0, 1, 1, 0}));
  EXPECT_TRUE(trace.recorded.stacks);
  EXPECT_TRUE(trace.recorded.sampled);
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST(SampledCalls, are_two_where_the_operator_says_that_the_function_was_called_again) {
  const Trace trace = SeenProgram()
                          .op(0, 100, "t.py(12): step;t.py(30): main", 0)
                          .op(200, 300, "t.py(12): step;t.py(30): main", 1)
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(30): main 0+300 on main", "python t.py(12): step 0+100 on main",
                                 "python t.py(12): step 100+200 on main"}));
}

TEST(SampledCalls, begin_where_the_operator_before_ended_when_no_sample_tells_more) {
  const Trace trace =
      SeenProgram().op(0, 100, "t.py(1): a;t.py(9): main", 0).op(150, 200, "t.py(5): b;t.py(9): main", 1).trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(9): main 0+200 on main", "python t.py(1): a 0+100 on main",
                                 "python t.py(5): b 100+100 on main"}));
}

// Four gaps of 100 between operators of the same line. Three samples saw f, in the first third, and one saw g, at the
// end: each gap is 75 of f and then 25 of g.
TEST(SampledCalls, divide_every_gap_of_a_class_as_all_its_samples_are_divided) {
  const std::string line = "t.py(3): main";
  SeenProgram program;
  for (int i = 0; i < 5; ++i) program.op(110 * i, 110 * i + 10, line, i == 0 ? 0 : 1);
  program.sample(30, "t.py(20): f;t.py(4): main").sample(150, "t.py(20): f;t.py(4): main");
  program.sample(240, "t.py(21): f;t.py(4): main").sample(430, "t.py(40): g;t.py(5): main");
  const Trace trace = program.trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(3): main 0+450 on main", "python t.py(20): f 10+75 on main",
                                 "python t.py(40): g 85+25 on main", "python t.py(20): f 120+75 on main",
                                 "python t.py(40): g 195+25 on main", "python t.py(20): f 230+75 on main",
                                 "python t.py(40): g 305+25 on main", "python t.py(20): f 340+75 on main",
                                 "python t.py(40): g 415+25 on main"}));
  // Two of the three samples in f were at line 20.
  EXPECT_EQ(place_of(trace, "t.py(20): f"), "t.py:20 f");
}

// The second and the fourth gap wait for the device, which takes 80 of their 100; the others have no sample of their
// own.
TEST(SampledCalls, divide_gaps_with_a_call_of_an_api_as_those_that_have_it_too) {
  const std::string line = "t.py(3): main", waiting = "torch/cuda.py(7): synchronize;t.py(4): main";
  SeenProgram program;
  for (int i = 0; i < 6; ++i) {
    program.op(110 * i, 110 * i + 10, line, i == 0 ? 0 : 1);
    if (i == 1 || i == 3) program.scope(kRuntime, "cudaDeviceSynchronize", 110 * i + 20, 110 * i + 100);
  }
  program.sample(150, waiting).sample(410, waiting).sample(20, line).sample(300, "t.py(9): f;t.py(4): main");
  std::vector<std::string> made = calls(program.trace());
  std::erase_if(made, [](const std::string& call) { return call.starts_with("runtime"); });
  EXPECT_EQ(made, (Lines{"python t.py(3): main 0+560 on main", "python t.py(9): f 60+50 on main",
                         "python torch/cuda.py(7): synchronize 120+100 on main", "python t.py(9): f 280+50 on main",
                         "python torch/cuda.py(7): synchronize 340+100 on main", "python t.py(9): f 500+50 on main"}));
}

// Samples come every 10, so that a gap of 100 is divided by its own: f until between 40 and 50, then g.
TEST(SampledCalls, in_a_long_gap_are_those_that_its_own_samples_saw) {
  SeenProgram program;
  program.op(0, 10, "t.py(3): main", 0).op(110, 120, "t.py(4): main", 1);
  for (int time = 20; time <= 40; time += 10) program.sample(time, "t.py(20): f;t.py(4): main");
  for (int time = 50; time <= 100; time += 10) program.sample(time, "t.py(40): g;t.py(4): main");
  program.sample(115, "t.py(90): seen_in_operator;t.py(4): main");
  EXPECT_EQ(calls(program.trace()), (Lines{"python t.py(3): main 0+120 on main", "python t.py(20): f 10+35 on main",
                                           "python t.py(40): g 45+65 on main"}));
}

// A generator that has yielded has no caller, which is how a sampler may find the one that it was about to look at. The
// operators behind say that main and step went on.
TEST(SampledCalls, are_not_ended_by_a_sample_without_the_calls_that_operators_say_went_on) {
  const std::string stack = "t.py(5): <genexpr>;t.py(5): step;t.py(9): main";
  SeenProgram program;
  program.op(0, 10, stack, 0).op(110, 120, stack, 2).op(400, 410, stack, 2);
  program.sample(30, "t.py(5): <genexpr>").sample(60, "t.py(6): step;t.py(9): main");
  // In a gap of more than eight periods.
  for (int time = 130; time < 390; time += 10)
    program.sample(time, time == 200 ? "t.py(5): <genexpr>" : "t.py(6): step;t.py(9): main");
  EXPECT_EQ(calls(program.trace()),
            (Lines{"python t.py(9): main 0+410 on main", "python t.py(5): step 0+410 on main",
                   "python t.py(5): <genexpr> 0+10 on main", "python t.py(5): <genexpr> 110+10 on main",
                   "python t.py(5): <genexpr> 400+10 on main"}));
}

TEST(SampledCalls, have_waits_inside_the_frame_whose_line_waits) {
  SeenProgram program;
  program.op(0, 10, "t.py(3): main", 0).op(110, 120, "t.py(9): main", 1);
  for (int time = 20; time <= 50; time += 10) program.sample(time, "t.py(20): f;t.py(4): main");
  for (int time = 60; time <= 80; time += 10) program.sample(time, "t.py(22): f;t.py(4): main", "sleep");
  for (int time = 90; time <= 100; time += 10) program.sample(time, "t.py(24): f;t.py(4): main", "lock");
  const Trace trace = program.trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(3): main 0+120 on main", "python t.py(20): f 10+100 on main",
                                 "python <waits for sleep> 55+30 on main", "python <waits for lock> 85+25 on main"}));
  EXPECT_EQ(place_of(trace, "<waits for sleep>"), "t.py:22 f");
  EXPECT_EQ(place_of(trace, "<waits for lock>"), "t.py:24 f");
  EXPECT_EQ(place_of(trace, "t.py(20): f"), "t.py:20 f");
  EXPECT_TRUE(trace.lanes.empty());
}

// Samples every 10 stand for half the time to their neighbors; the first and the last for half a period to their outer
// side, and what is a thousand periods later is another call.
TEST(SampledCalls, of_a_thread_without_operators_are_made_of_samples_alone) {
  SeenProgram program;
  program.op(0, 10, "t.py(3): main", 0);
  for (int time = 1000; time <= 1020; time += 10) program.sample(time, "s.py(5): poll;s.py(1): serve", "", 500);
  program.sample(1030, "s.py(2): serve", "", 500).sample(11'030, "s.py(2): serve", "", 500);
  const Trace trace = program.trace();
  EXPECT_EQ(calls(trace),
            (Lines{"python t.py(3): main 0+10 on main", "python s.py(1): serve 995+40 on thread 500",
                   "python s.py(5): poll 995+30 on thread 500", "python s.py(1): serve 11025+10 on thread 500"}));
  EXPECT_EQ(trace.tracks[1].native_id, 500);
}

TEST(SampledCalls, begin_with_an_exact_scope_that_they_end_in) {
  const Trace trace = SeenProgram()
                          .op(0, 40, "t.py(1): load;t.py(9): main", 0)
                          .op(100, 150, "t.py(5): forward;t.py(9): main", 1)
                          .scope(kAnnotation, "training", 50, 250)
                          .op(300, 350, "t.py(9): main", 1)
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(9): main 0+350 on main", "python t.py(1): load 0+40 on main",
                                 "annotation training 50+200 on main", "python t.py(5): forward 50+100 on main"}));
}

TEST(SampledCalls, are_divided_at_an_exact_scope_that_they_were_seen_before) {
  const Trace trace = SeenProgram()
                          .op(0, 40, "t.py(1): f;t.py(9): main", 0)
                          .op(100, 120, "t.py(1): f;t.py(9): main", 2)
                          .op(200, 210, "t.py(9): main", 1)
                          .scope(kAnnotation, "step", 50, 250)
                          .op(300, 310, "t.py(9): main", 1)
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(9): main 0+310 on main", "python t.py(1): f 0+50 on main",
                                 "annotation step 50+200 on main", "python t.py(1): f 50+70 on main"}));
  EXPECT_TRUE(trace.lanes.empty());
}

TEST(SampledCalls, are_divided_at_the_end_of_an_exact_scope_in_which_they_began) {
  const Trace trace = SeenProgram()
                          .op(0, 40, "t.py(9): main", 0)
                          .op(60, 70, "t.py(9): main", 1)
                          .op(100, 120, "t.py(1): f;t.py(9): main", 1)
                          .scope(kAnnotation, "step", 50, 250)
                          .op(300, 310, "t.py(1): f;t.py(9): main", 2)
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(9): main 0+310 on main", "annotation step 50+200 on main",
                                 "python t.py(1): f 70+180 on main", "python t.py(1): f 250+60 on main"}));
}

// One of two samples saw f: the middle of the gap lies in the call of the API, and the nearer edge of that is its end.
TEST(SampledCalls, do_not_end_inside_calls_of_an_api) {
  SeenProgram program;
  program.op(0, 10, "t.py(3): main", 0)
      .scope(kRuntime, "cudaDeviceSynchronize", 20, 80)
      .op(110, 120, "t.py(4): main", 1);
  program.sample(15, "t.py(20): f;t.py(4): main").sample(100, "t.py(40): g;t.py(4): main");
  EXPECT_EQ(calls(program.trace()),
            (Lines{"python t.py(3): main 0+120 on main", "python t.py(20): f 10+70 on main",
                   "runtime cudaDeviceSynchronize 20+60 on main", "python t.py(40): g 80+30 on main"}));
}

TEST(SampledCalls, go_on_over_a_pause_only_where_both_sides_share_them) {
  const Trace trace = SeenProgram()
                          .op(0, 40, "t.py(1): f;t.py(9): main", 0)
                          .scope(kAnnotation, "UnrecordedStep", 50, 150)
                          .scope(kAnnotation, "UnrecordedStep", 150, 250)
                          .op(300, 310, "t.py(1): f;t.py(9): main", 1)
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(9): main 0+310 on main", "python t.py(1): f 0+40 on main",
                                 "annotation UnrecordedStep 50+100 on main",
                                 "annotation UnrecordedStep 150+100 on main", "python t.py(1): f 250+60 on main"}));
}

// An autograd function written in Python is an operator inside of which Python runs.
TEST(SampledCalls, run_inside_an_operator_whose_inner_ones_tell_stacks) {
  const Trace trace = SeenProgram()
                          .op(20, 40, "t.py(5): backward;t.py(9): main", 1)
                          .op(50, 60, "t.py(6): backward;t.py(9): main", 2)
                          .op(0, 100, "t.py(9): main", 0)
                          .trace();
  EXPECT_EQ(rows(trace),
            (Lines{"python t.py(9): main 0+100 on main", "operator op 0+100 on main",
                   "python t.py(5): backward 0+60 on main", "operator op 20+20 on main", "operator op 50+10 on main"}));
  EXPECT_EQ(trace.events.parent, (std::vector<EventId>{kNoEvent, 0, 1, 2, 2}));
}

TEST(SampledCalls, are_modules_where_these_were_not_recorded_exactly) {
  const std::string in_linear = "nn.Module: Linear_0;t.py(5): forward;nn.Module: Net_0;t.py(9): main";
  EXPECT_EQ(calls(SeenProgram().op(0, 40, in_linear, 0).trace()),
            (Lines{"python t.py(9): main 0+40 on main", "module nn.Module: Net_0 0+40 on main",
                   "python t.py(5): forward 0+40 on main", "module nn.Module: Linear_0 0+40 on main"}));
  EXPECT_EQ(calls(SeenProgram()
                      .op(10, 40, in_linear, 0)
                      .scope(kModule, "nn.Module: Linear_0", 5, 45)
                      .scope(kModule, "nn.Module: Net_0", 0, 50)
                      .trace()),
            (Lines{"module nn.Module: Net_0 0+50 on main", "module nn.Module: Linear_0 5+40 on main",
                   "python t.py(9): main 10+30 on main", "python t.py(5): forward 10+30 on main"}));
}

TEST(SampledCalls, are_left_alone_where_python_calls_were_recorded_exactly) {
  const Trace trace = SeenProgram()
                          .op(10, 40, "t.py(12): step;t.py(30): main", 0)
                          .scope(kPython, "t.py(10): step", 0, 50)
                          .sample(45, "t.py(13): step;t.py(30): main")
                          .trace();
  EXPECT_EQ(calls(trace), (Lines{"python t.py(10): step 0+50 on main"}));
  EXPECT_FALSE(trace.recorded.sampled);
}

TEST(SampledCalls, contain_garbage_collections) {
  const Trace trace = SeenProgram()
                          .op(0, 10, "t.py(3): main", 0)
                          .scope(kPython, "gc.collect (generation 2)", 20, 80)
                          .op(100, 110, "t.py(4): main", 1)
                          .trace();
  EXPECT_EQ(calls(trace),
            (Lines{"python t.py(3): main 0+110 on main", "python gc.collect (generation 2) 20+60 on main"}));
}

TEST(SampledCalls, are_not_made_of_stacks_without_the_recorders_count_of_calls) {
  const Trace trace = SeenProgram().op(0, 10, "t.py(3): main", -1).trace();
  EXPECT_EQ(rows(trace), (Lines{"operator op 0+10 on main"}));
  EXPECT_TRUE(trace.recorded.stacks);
  EXPECT_FALSE(trace.recorded.sampled);
}

TEST(SampledCalls, do_not_depend_on_how_many_threads_read) {
  SeenProgram program;
  for (int i = 0; i < 20; ++i)
    program.op(110 * i, 110 * i + 10, i % 2 ? "t.py(3): f;t.py(8): main" : "t.py(8): main", i == 0 ? 0 : 1)
        .sample(110 * i + 20 + i, "t.py(2" + std::to_string(i % 7) + "): g" + std::to_string(i % 3) + ";t.py(9): main");
  const std::string bytes = program.bytes();
  const auto alone = read_bytes(bytes, 1), together = read_bytes(bytes, 4);
  ASSERT_TRUE(alone && together);
  EXPECT_GT(alone->events.size(), 20u);
  EXPECT_EQ(rows(*alone), rows(*together));
}

TEST(SampledCalls, ignore_samples_whose_stack_is_missing_or_lost) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site(
      "sample", {"",
                 "",
                 "",
                 0,
                 0,
                 {{"Thread", kInteger}, {"Call stack", kName}, {"Waits for", kName}, {"Processor time", kInteger}}});
  const auto other = sketch.site("sample", {"", "", "", 0, 0, {{"Thread", kInteger}}});
  sketch.thread(1, 1, "sampler").track(9, 2, 0, "samples", -1, 1);
  constexpr std::uint64_t kNobodysText = 999;
  sketch.records(RecordsSketch(1)
                     .span_on(9, site, 1000, 0, 0, zigzagged(7) + varint(0) + varint(0) + zigzagged(0))
                     .span_on(9, site, 1010, 0, 0, zigzagged(7) + varint(kNobodysText) + varint(0) + zigzagged(0))
                     .span_on(9, other, 1020, 0, 0, zigzagged(7)));
  const auto trace = read_bytes(sketch.end(2000).bytes());
  ASSERT_TRUE(trace);
  // A site without all the fields is anyone's.
  EXPECT_EQ(rows(*trace), (Lines{"annotation sample 0+0 on samples"}));
}

}  // namespace
}  // namespace telltale::tell
