#include "analysis/module_times.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

std::vector<ModuleTime> times_of(const Trace& trace) {
  return module_times(trace, step_timing(trace), phase_by_event(trace, host_work_by_event(trace)));
}

std::vector<std::string> paths_of(const std::vector<ModuleTime>& times) {
  std::vector<std::string> paths;
  for (const ModuleTime& time : times) paths.push_back(time.path);
  return paths;
}

// A model of two layers: 100 ns forward (30 and 50 in the layers), then backward of the second one on another thread.
struct TwoLayers {
  TwoLayers() {
    main = sketch.thread("main");
    autograd = sketch.thread("thread 7 (pt_autograd_0)");
    stream = sketch.stream(0, 7);
    sketch.event(main, Kind::kModule, "nn.Module: Net_0", 0, 100);
    sketch.event(main, Kind::kModule, "nn.Module: Linear_0", 10, 40);
    kernel(main, "aten::linear", 15, 200, 210);
    sketch.event(main, Kind::kModule, "nn.Module: Linear_1", 40, 90);
    forward = kernel(main, "aten::linear", 45, 210, 240);
    kernel(main, "aten::relu", 92, 240, 245);  // of the model itself
    sketch.op(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 300, 360);
    backward = sketch.op(autograd, "AddmmBackward0", 310, 350);
    kernel(autograd, "aten::mm", 320, 400, 460);
    sketch.set_cause(backward, forward);
  }

  // An operator of 6 ns that launches a kernel.
  TraceSketch::Handle kernel(TrackId thread, std::string_view op, Nanoseconds at, Nanoseconds start, Nanoseconds end) {
    const auto handle = sketch.op(thread, op, at, at + 6);
    const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at + 1, at + 3);
    sketch.work(stream, Kind::kKernel, "kernel", start, end, launch);
    return handle;
  }

  TraceSketch sketch;
  TrackId main = 0, autograd = 0, stream = 0;
  TraceSketch::Handle forward = 0, backward = 0;
};

TEST(ModuleTimes, are_a_tree_with_what_children_do_included) {
  TwoLayers model;
  const std::vector<ModuleTime> times = times_of(model.sketch.build());
  ASSERT_EQ(paths_of(times), (std::vector<std::string>{"Net_0", "Net_0/Linear_1", "Net_0/Linear_0"}));
  EXPECT_EQ(times[0].name, "Net_0");
  EXPECT_EQ(times[0].parent, ModuleTime::kNoParent);
  EXPECT_EQ(times[0].forward_cpu_ns, 100);
  EXPECT_EQ(times[0].forward_device_ns, 10 + 30 + 5);
  EXPECT_EQ(times[0].self_device_ns, 5);
  EXPECT_EQ(times[1].name, "Linear_1");
  EXPECT_EQ(times[1].parent, 0);
  EXPECT_EQ(times[1].depth, 1);
  EXPECT_EQ(times[1].calls, 1);
  EXPECT_EQ(times[1].forward_cpu_ns, 50);
  EXPECT_EQ(times[1].forward_device_ns, 30);
  EXPECT_EQ(times[2].forward_cpu_ns, 30);
  EXPECT_EQ(times[2].device_ns(), 10);
}

TEST(ModuleTimes, give_what_runs_backward_to_the_module_of_its_forward_operator) {
  TwoLayers model;
  const std::vector<ModuleTime> times = times_of(model.sketch.build());
  EXPECT_EQ(times.at(1).backward_cpu_ns, 60);
  EXPECT_EQ(times.at(1).backward_device_ns, 60);
  EXPECT_EQ(times.at(1).self_device_ns, 90);
  EXPECT_EQ(times.at(0).backward_cpu_ns, 60);
  EXPECT_EQ(times.at(0).backward_device_ns, 60);
  EXPECT_EQ(times.at(2).backward_cpu_ns, 0);
}

TEST(ModuleTimes, of_what_is_computed_again_count_as_backward_at_the_place_it_had) {
  TwoLayers model;
  model.sketch.event(model.autograd, Kind::kModule, "nn.Module: Linear_0", 312, 319);  // asked for by Linear_1's node
  const std::vector<ModuleTime> times = times_of(model.sketch.build());
  ASSERT_EQ(paths_of(times), (std::vector<std::string>{"Net_0", "Net_0/Linear_1", "Net_0/Linear_0"}));
  EXPECT_EQ(times[2].calls, 2);
  EXPECT_EQ(times[2].forward_cpu_ns, 30);
  EXPECT_EQ(times[2].backward_cpu_ns, 7);
  EXPECT_EQ(times[1].backward_cpu_ns, 60 - 7);
  EXPECT_EQ(times[0].backward_cpu_ns, 60);
}

TEST(ModuleTimes, merge_calls_of_one_module_but_not_of_one_name_elsewhere) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (const Nanoseconds start : {0, 100}) {
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(start), start, start + 100);
    sketch.event(main, Kind::kModule, "nn.Module: A_0", start + 10, start + 50);
    sketch.event(main, Kind::kModule, "nn.Module: Shared_0", start + 20, start + 30);
    sketch.event(main, Kind::kModule, "nn.Module: Shared_0", start + 30, start + 40);
    sketch.event(main, Kind::kModule, "nn.Module: Shared_0", start + 60, start + 65);
  }
  sketch.event(main, Kind::kModule, "nn.Module: Shared_0", 300, 400);  // after the last step
  const std::vector<ModuleTime> times = times_of(sketch.build());
  ASSERT_EQ(paths_of(times), (std::vector<std::string>{"A_0", "A_0/Shared_0", "Shared_0"}));
  EXPECT_EQ(times[0].calls, 2);
  EXPECT_EQ(times[0].forward_cpu_ns, 40);
  EXPECT_EQ(times[1].calls, 4);
  EXPECT_EQ(times[1].forward_cpu_ns, 20);
  EXPECT_EQ(times[2].calls, 2);
  EXPECT_EQ(times[2].forward_cpu_ns, 5);
}

TEST(ModuleTimes, list_siblings_by_device_time_then_by_host_time) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kModule, "nn.Module: Short_0", 0, 10);
  sketch.event(main, Kind::kModule, "nn.Module: Long_0", 10, 40);
  sketch.event(main, Kind::kModule, "nn.Module: OnDevice_0", 40, 45);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 41, 42);
  sketch.work(stream, Kind::kKernel, "k", 50, 60, launch);
  EXPECT_EQ(paths_of(times_of(sketch.build())), (std::vector<std::string>{"OnDevice_0", "Long_0", "Short_0"}));
}

TEST(ModuleTimes, are_not_lost_behind_a_call_whose_return_was_not_seen) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kModule, "nn.Module: OptimizedModule_0", 0, 100);
  const auto apply = sketch.event(main, Kind::kPython, "<built-in method apply of FunctionMeta object>", 10, 500);
  sketch.op(main, "CompiledFunction", 20, 60);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 30, 40);
  sketch.work(stream, Kind::kKernel, "triton_poi_fused_0", 50, 70, launch);
  sketch.op(main, "aten::item", 200, 300);  // long after the module returned
  Trace trace = sketch.build();
  trace.lanes.append(sketch.id(apply), 1);
  const std::vector<ModuleTime> times = times_of(trace);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].forward_cpu_ns, 100);
  EXPECT_EQ(times[0].forward_device_ns, 20);
}

TEST(ModuleTimes, are_empty_without_modules) {
  TraceSketch sketch;
  sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  EXPECT_TRUE(times_of(sketch.build()).empty());
  TraceSketch nothing;
  EXPECT_TRUE(times_of(nothing.build()).empty());
}

}  // namespace
}  // namespace telltale
