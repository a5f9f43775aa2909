#include "replay/edit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "analysis/testing/trace_sketch.h"
#include "base/amounts.h"

namespace telltale {
namespace {

std::vector<EventId> listed(std::span<const EventId> events) { return {events.begin(), events.end()}; }

// An operator with a launch on either side of another operator, and one launch behind it.
struct Program {
  TraceSketch sketch;
  TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  TraceSketch::Handle outer = sketch.op(main, "outer", 0, 100);
  TraceSketch::Handle first_call = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 10, 20);
  TraceSketch::Handle inner = sketch.op(main, "inner", 30, 60);
  TraceSketch::Handle second_call = sketch.event(main, Kind::kRuntime, "cudaGraphLaunch", 40, 50);
  TraceSketch::Handle later_call = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 100, 110);
  TraceSketch::Handle first = sketch.work(stream, Kind::kKernel, "a", 200, 210, first_call);
  TraceSketch::Handle second = sketch.work(stream, Kind::kKernel, "b", 210, 220, second_call);
  TraceSketch::Handle third = sketch.work(stream, Kind::kMemset, "c", 220, 230, second_call);
  TraceSketch::Handle unlaunched = sketch.event(stream, Kind::kKernel, "launched before", 100, 110);
  TraceSketch::Handle last = sketch.work(stream, Kind::kKernel, "d", 240, 250, later_call);
  Trace trace = sketch.build();

  EventId id(TraceSketch::Handle handle) const { return sketch.id(handle); }
};

TEST(LaunchedWork, is_found_by_the_call_that_launched_it) {
  const Program program;
  const LaunchedWork launched(program.trace);
  EXPECT_EQ(listed(launched.of(program.id(program.first_call))), (std::vector{program.id(program.first)}));
  EXPECT_EQ(listed(launched.of(program.id(program.second_call))),
            (std::vector{program.id(program.second), program.id(program.third)}));
  EXPECT_TRUE(launched.of(program.id(program.outer)).empty());
  EXPECT_TRUE(launched.of(program.id(program.first)).empty());
}

TEST(LaunchedWork, of_a_range_is_that_of_all_calls_in_it) {
  const Program program;
  const LaunchedWork launched(program.trace);
  const EventId outer = program.id(program.outer);
  EXPECT_EQ(listed(launched.of_range(outer, subtree_end(program.trace, outer))),
            (std::vector{program.id(program.first), program.id(program.second), program.id(program.third)}));
  EXPECT_TRUE(launched.of_range(outer, outer).empty());
}

TEST(LaunchedWork, of_an_empty_trace_is_none) {
  const Trace trace = TraceSketch().build();
  EXPECT_TRUE(LaunchedWork(trace).of_range(0, 0).empty());
}

TEST(SubtreeEnd, comes_behind_everything_that_an_event_contains) {
  const Program program;
  EXPECT_EQ(subtree_end(program.trace, program.id(program.outer)), program.id(program.later_call));
  EXPECT_EQ(subtree_end(program.trace, program.id(program.inner)), program.id(program.second_call) + 1);
  EXPECT_EQ(subtree_end(program.trace, program.id(program.first_call)), program.id(program.first_call) + 1);
  // The last of its thread: what follows stands on a stream.
  EXPECT_EQ(subtree_end(program.trace, program.id(program.later_call)), program.id(program.later_call) + 1);
}

TEST(Edit, factors_of_one_event_multiply) {
  const Program program;
  Edit edit;
  EXPECT_TRUE(edit.scale.empty());
  edit.scale_event(program.trace, program.id(program.inner), 0.5F);
  edit.scale_event(program.trace, program.id(program.inner), 0.5F);
  ASSERT_EQ(edit.scale.size(), program.trace.events.size());
  EXPECT_EQ(edit.scale[program.id(program.inner)], 0.25F);
  EXPECT_EQ(edit.scale[program.id(program.outer)], 1.0F);
}

TEST(Edit, marks_waits_and_nodes_of_graphs_one_by_one) {
  const Program program;
  Edit edit;
  edit.drop_wait(program.trace, program.id(program.second_call));
  edit.run_in_graph(program.trace, program.id(program.first));
  EXPECT_TRUE(edit.is_free_of_waiting[program.id(program.second_call)]);
  EXPECT_FALSE(edit.is_free_of_waiting[program.id(program.first_call)]);
  EXPECT_TRUE(edit.is_graph_node[program.id(program.first)]);
  EXPECT_FALSE(edit.is_graph_node[program.id(program.second)]);
}

TEST(Edit, a_subtree_takes_its_device_work_along) {
  const Program program;
  Edit edit;
  edit.scale_subtree(program.trace, LaunchedWork(program.trace), program.id(program.inner), 0.5F, 0.0F);
  EXPECT_EQ(edit.scale[program.id(program.outer)], 1.0F);
  EXPECT_EQ(edit.scale[program.id(program.first_call)], 1.0F);
  EXPECT_EQ(edit.scale[program.id(program.first)], 1.0F);
  EXPECT_EQ(edit.scale[program.id(program.inner)], 0.5F);
  EXPECT_EQ(edit.scale[program.id(program.second_call)], 0.5F);
  EXPECT_EQ(edit.scale[program.id(program.second)], 0.0F);
  EXPECT_EQ(edit.scale[program.id(program.third)], 0.0F);
  EXPECT_EQ(edit.scale[program.id(program.last)], 1.0F);
}

TEST(ObserverCost, is_small_where_our_own_recorder_was_at_work) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::mm", 0, 10);
  sketch.event(main, Kind::kPython, "train.py(3): step", 20, 30);
  Trace trace = sketch.build();
  trace.metadata.emplace_back("recorded", R"({"shapes":false})");
  const ObserverCost cost = observer_cost(trace);
  EXPECT_EQ(cost.python_call, 75);
  EXPECT_EQ(cost.operator_call, 100);
  EXPECT_EQ(cost.api_call, 0);
  trace.recorded.shapes = true;
  EXPECT_EQ(observer_cost(trace).operator_call, 310);
}

// On an H200, `telltale record` made a decode of a Llama 47.4 % of 7.79 ms longer, and operators and kernels alone 27.5
// % of 7.68: 1,600 operators and 641 launches.
TEST(ObserverCost, of_a_program_on_a_gpu_is_what_was_measured) {
  TraceSketch sketch;
  sketch.op(sketch.thread("main"), "aten::add", 0, 10);
  Trace trace = sketch.build();
  trace.metadata.emplace_back("recorded", "{}");
  trace.metadata.emplace_back("cuda_calls", "\"chosen\"");
  const auto of_the_decode = [&] {
    const ObserverCost cost = observer_cost(trace);
    return 1'600 * cost.operator_call + 641 * (cost.api_call + cost.launch);
  };
  EXPECT_NEAR(of_the_decode(), 0.275 * 7.68e6, 0.1 * 0.275 * 7.68e6);
  trace.recorded.shapes = true;
  EXPECT_NEAR(of_the_decode(), 0.474 * 7.79e6, 0.1 * 0.474 * 7.79e6);
}

TEST(ObserverCost, is_ours_in_a_program_without_torch_whose_cuda_we_recorded) {
  TraceSketch sketch;
  sketch.event(sketch.thread("main"), Kind::kRuntime, "cudaLaunchKernel", 0, 10);
  Trace trace = sketch.build();
  trace.metadata.emplace_back("cuda_calls", "\"chosen\"");
  EXPECT_NEAR(observer_cost(trace).api_call, 273.4, 0.1);  // 35 and 90 µs for 128 launches
  EXPECT_NEAR(observer_cost(trace).launch, 703.1, 0.1);
  EXPECT_EQ(observer_cost(trace).operator_call, 100);
}

// A trace with an operator, and with a Python call where stacks are recorded.
Trace observed(bool has_stacks) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::mm", 0, 10);
  if (has_stacks) sketch.event(main, Kind::kPython, "train.py(3): step", 20, 30);
  return sketch.build();
}

TEST(ObserverCost, is_what_the_page_about_rules_says) {
  std::ifstream file(TELLTALE_SOURCE_DIR "/docs/rules.md");
  std::string page;
  for (std::string word; file >> word;) page += word + " ";
  const auto per = [](double cost, const char* of) { return format_number(cost / 1000) + " µs per " + of; };
  const ObserverCost plain = observer_cost(observed(false)), with_stacks = observer_cost(observed(true));
  Trace of_ours = observed(true);
  of_ours.metadata.emplace_back("recorded", "{}");
  const ObserverCost ours = observer_cost(of_ours);
  of_ours.recorded.shapes = true;
  const std::string with_shapes = format_number(observer_cost(of_ours).operator_call / 1000) + " µs with shapes";
  const auto with_gpu = [&] {
    of_ours.metadata.emplace_back("cuda_calls", "\"chosen\"");
    const ObserverCost shapes = observer_cost(of_ours);
    of_ours.recorded.shapes = false;
    return "with a GPU " + per(observer_cost(of_ours).operator_call, "operator") + " (" +
           format_number(shapes.operator_call / 1000) + " with shapes), " + per(shapes.api_call, "call of CUDA") +
           " and " + format_number(shapes.launch / 1000) + " more where it launches something";
  };
  for (const std::string& said : {
           with_gpu(),
           "With stacks: " + per(with_stacks.operator_call, "operator") + " and " +
               format_number(100 * with_stacks.share) + " % of the host's time",
           "Without stacks: " + per(plain.operator_call, "operator") + " and " + per(plain.api_call, "API call"),
           "Our own recorder: " + per(ours.operator_call, "operator") + " (" + with_shapes + ") and " +
               per(ours.python_call, "Python call"),
       })
    EXPECT_NE(page.find(said), std::string::npos) << said;
}

TEST(ObserverCost, is_mostly_a_share_where_python_calls_are_recorded) {
  EXPECT_GT(observer_cost(observed(true)).share, 0);
  EXPECT_EQ(observer_cost(observed(false)).share, 0);
}

TEST(ObserverCost, is_that_of_operators_and_calls_elsewhere) {
  TraceSketch sketch;
  sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  const ObserverCost cost = observer_cost(sketch.build());
  EXPECT_EQ(cost.python_call, 0);
  EXPECT_GT(cost.operator_call, 0);
  EXPECT_GT(cost.api_call, 0);
}

}  // namespace
}  // namespace telltale
