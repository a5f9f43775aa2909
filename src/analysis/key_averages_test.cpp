#include "analysis/key_averages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

const KeyAverage* find(const KeyAverages& averages, std::string_view name, Kind kind = Kind::kOperator) {
  const auto at =
      std::ranges::find_if(averages.rows, [&](const KeyAverage& row) { return row.name == name && row.kind == kind; });
  return at == averages.rows.end() ? nullptr : &*at;
}

KeyAverage row(const KeyAverages& averages, std::string_view name, Kind kind = Kind::kOperator) {
  const KeyAverage* found = find(averages, name, kind);
  if (found == nullptr) ADD_FAILURE() << "no row " << name;
  return found == nullptr ? KeyAverage{} : *found;
}

TEST(KeyAverages, self_time_leaves_out_the_calls_inside) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::linear", 0, 100);
  sketch.op(main, "aten::t", 10, 20);
  sketch.op(main, "aten::addmm", 30, 90);
  sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 40, 55);
  const KeyAverages averages = key_averages(sketch.build());

  EXPECT_EQ(row(averages, "aten::linear").self_cpu_ns, 100 - 10 - 60);
  EXPECT_EQ(row(averages, "aten::linear").cpu_ns, 100);
  EXPECT_EQ(row(averages, "aten::addmm").self_cpu_ns, 60 - 15);
  EXPECT_EQ(row(averages, "cudaLaunchKernel", Kind::kRuntime).self_cpu_ns, 15);
  EXPECT_EQ(averages.totals.self_cpu_ns, 100);
}

TEST(KeyAverages, say_when_the_first_call_of_a_row_began_on_whatever_thread) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), other = sketch.thread("other");
  sketch.op(main, "aten::mm", 50, 60);
  sketch.op(other, "aten::mm", 20, 30);
  sketch.op(other, "aten::mm", 70, 80);
  EXPECT_EQ(row(key_averages(sketch.build()), "aten::mm").first_start, 20);
}

TEST(KeyAverages, python_frames_take_no_time_away_from_operators) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "outer", 0, 100);
  sketch.event(main, Kind::kPython, "f", 10, 90);
  sketch.op(main, "inner", 20, 60);
  KeyAveragesOptions options;
  options.kinds = {Kind::kOperator, Kind::kPython};
  const KeyAverages averages = key_averages(sketch.build(), options);

  EXPECT_EQ(row(averages, "outer").self_cpu_ns, 100 - 40);
  EXPECT_EQ(row(averages, "f", Kind::kPython).self_cpu_ns, 80);
}

TEST(KeyAverages, do_not_count_python_calls_that_are_seen_by_samples) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "f", 0, 90);
  sketch.op(main, "op", 20, 60);
  Trace trace = sketch.build();
  KeyAveragesOptions options;
  options.kinds = {Kind::kOperator, Kind::kPython};
  EXPECT_EQ(row(key_averages(trace, options), "f", Kind::kPython).known_calls(), 1);
  trace.recorded.sampled = true;
  const KeyAverages averages = key_averages(trace, options);
  EXPECT_EQ(row(averages, "f", Kind::kPython).known_calls(), std::nullopt);
  EXPECT_EQ(row(averages, "f", Kind::kPython).cpu_average_ns(), std::nullopt);
  EXPECT_EQ(row(averages, "f", Kind::kPython).cpu_ns, 90);
  EXPECT_EQ(row(averages, "op").known_calls(), 1);
}

TEST(KeyAverages, nested_calls_of_one_name_count_twice_in_total_and_once_in_once) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::abs", 0, 100);
  sketch.op(main, "aten::empty", 5, 8);
  sketch.op(main, "aten::abs", 10, 90);
  sketch.op(main, "aten::abs", 200, 230);
  const TrackId other = sketch.thread("other");
  sketch.op(other, "aten::abs", 0, 50);
  const KeyAverage abs = row(key_averages(sketch.build()), "aten::abs");

  EXPECT_EQ(abs.calls, 4);
  EXPECT_EQ(abs.cpu_ns, 100 + 80 + 30 + 50);
  EXPECT_EQ(abs.cpu_once_ns, 100 + 30 + 50);
}

TEST(KeyAverages, overlapping_calls_of_one_name_count_each_nanosecond_once) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "async", 0, 60);
  sketch.op(main, "async", 40, 100);
  EXPECT_EQ(row(key_averages(sketch.build()), "async").cpu_once_ns, 100);
}

TEST(KeyAverages, a_folded_operator_counts_as_part_of_its_parent) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  const auto outer = sketch.op(main, "aten::conv2d", 0, 100);
  sketch.op(main, "aten::conv2d", 10, 90);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 20, 30);
  const auto kernel = sketch.event(stream, Kind::kKernel, "conv", 50, 57);
  sketch.set_cause(kernel, launch);
  sketch.set_inputs(outer, "[[2,3]]");
  const KeyAverage conv = row(key_averages(sketch.build()), "aten::conv2d");

  EXPECT_EQ(conv.calls, 1);
  EXPECT_EQ(conv.cpu_ns, 100);
  EXPECT_EQ(conv.self_cpu_ns, 90);
  EXPECT_EQ(conv.self_device_ns, 7);
  EXPECT_EQ(conv.device_ns, 7);
}

TEST(KeyAverages, device_time_goes_to_the_launching_operator_and_to_all_around_it) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kAnnotation, "forward", 0, 1000);
  sketch.op(main, "aten::linear", 100, 900);
  sketch.op(main, "aten::addmm", 200, 800);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 300, 400);
  const auto kernel = sketch.event(stream, Kind::kKernel, "gemm", 2000, 2050);
  const auto second = sketch.event(stream, Kind::kMemset, "Memset (Device)", 2050, 2053);
  sketch.set_cause(kernel, launch);
  sketch.set_cause(second, launch);
  const KeyAverages averages = key_averages(sketch.build());

  EXPECT_EQ(row(averages, "aten::addmm").self_device_ns, 53);
  EXPECT_EQ(row(averages, "aten::linear").self_device_ns, 0);
  EXPECT_EQ(row(averages, "aten::linear").device_ns, 53);
  EXPECT_EQ(row(averages, "forward", Kind::kAnnotation).device_ns, 53);
  EXPECT_EQ(row(averages, "cudaLaunchKernel", Kind::kRuntime).device_ns, 0);
  EXPECT_EQ(averages.totals.self_device_ns, 53);
}

TEST(KeyAverages, a_launch_outside_all_operators_counts_for_the_annotation_around_it) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kAnnotation, "triton", 0, 1000);
  const auto launch = sketch.event(main, Kind::kDriver, "cuLaunchKernelEx", 300, 400);
  const auto kernel = sketch.event(stream, Kind::kKernel, "fused", 2000, 2050);
  sketch.set_cause(kernel, launch);
  const KeyAverages averages = key_averages(sketch.build());
  EXPECT_EQ(row(averages, "triton", Kind::kAnnotation).self_device_ns, 50);
}

TEST(KeyAverages, a_launch_that_names_its_operator_counts_for_that_one) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId worker = sketch.thread("worker");
  const TrackId stream = sketch.stream(0, 7);
  const auto op = sketch.op(main, "aten::mm", 0, 1000);
  const auto launch = sketch.event(worker, Kind::kRuntime, "cudaLaunchKernel", 300, 400);
  const auto kernel = sketch.event(stream, Kind::kKernel, "gemm", 2000, 2050);
  sketch.set_cause(kernel, launch);
  sketch.set_cause(launch, op);
  EXPECT_EQ(row(key_averages(sketch.build()), "aten::mm").self_device_ns, 50);
}

TEST(KeyAverages, projections_of_annotations_are_no_device_work) {
  TraceSketch sketch;
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(stream, Kind::kDeviceAnnotation, "forward", 0, 1000);
  sketch.event(stream, Kind::kKernel, "gemm", 100, 150);
  KeyAveragesOptions options;
  options.kinds = KindSet::all();
  const KeyAverages averages = key_averages(sketch.build(), options);

  EXPECT_EQ(averages.totals.self_device_ns, 50);
  const KeyAverage forward = row(averages, "forward", Kind::kDeviceAnnotation);
  EXPECT_EQ(forward.calls, 1);
  EXPECT_EQ(forward.self_device_ns, std::nullopt);
  EXPECT_EQ(forward.device_ns, std::nullopt);
  EXPECT_EQ(row(averages, "gemm", Kind::kKernel).self_device_ns, 50);
  EXPECT_EQ(row(averages, "gemm", Kind::kKernel).cpu_ns, std::nullopt);
}

TEST(KeyAverages, steps_share_one_row) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 100);
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#2", 100, 250);
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(stream, Kind::kDeviceAnnotation, "ProfilerStep#1", 50, 120);
  sketch.event(stream, Kind::kDeviceAnnotation, "ProfilerStep#2", 150, 270);
  KeyAveragesOptions options;
  options.kinds = KindSet::all();
  const KeyAverages averages = key_averages(sketch.build(), options);
  ASSERT_EQ(averages.rows.size(), 2);
  EXPECT_EQ(row(averages, "ProfilerStep*", Kind::kAnnotation).calls, 2);
  EXPECT_EQ(row(averages, "ProfilerStep*", Kind::kAnnotation).cpu_ns, 250);
  EXPECT_EQ(row(averages, "ProfilerStep*", Kind::kDeviceAnnotation).calls, 2);
}

TEST(KeyAverages, chosen_steps_count_the_device_work_that_they_launched) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#3", 0, 100);
  sketch.op(main, "aten::mm", 10, 50);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 20, 30);
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#4", 100, 200);
  sketch.op(main, "aten::relu", 110, 130);
  const auto kernel = sketch.event(stream, Kind::kKernel, "gemm", 120, 145);  // runs during step 4
  sketch.set_cause(kernel, launch);
  const Trace trace = sketch.build();

  KeyAveragesOptions options;
  options.kinds = {Kind::kOperator, Kind::kKernel};
  options.steps = StepRange{3, 3};
  const KeyAverages third = key_averages(trace, options);
  EXPECT_EQ(row(third, "gemm", Kind::kKernel).self_device_ns, 25);
  EXPECT_EQ(row(third, "aten::mm").device_ns, 25);
  EXPECT_EQ(find(third, "aten::relu"), nullptr);
  EXPECT_EQ(third.totals.self_cpu_ns, 100);
  EXPECT_EQ(third.totals.self_device_ns, 25);

  options.steps = StepRange{4, 4};
  const KeyAverages fourth = key_averages(trace, options);
  EXPECT_EQ(find(fourth, "gemm", Kind::kKernel), nullptr);
  EXPECT_EQ(fourth.totals.self_device_ns, 0);
}

TEST(KeyAverages, memory_of_a_call_is_what_changed_while_it_ran) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::linear", 0, 100);
  sketch.op(main, "aten::empty", 10, 20);
  sketch.allocate(main, 15, 512, 0);
  sketch.allocate(main, 50, -100, 0);
  sketch.allocate(main, 60, 8, kHost);
  const KeyAverages averages = key_averages(sketch.build());

  EXPECT_EQ(row(averages, "aten::linear").device_memory_bytes, 412);
  EXPECT_EQ(row(averages, "aten::linear").self_device_memory_bytes, -100);
  EXPECT_EQ(row(averages, "aten::linear").self_cpu_memory_bytes, 8);
  EXPECT_EQ(row(averages, "aten::empty").self_device_memory_bytes, 512);
}

TEST(KeyAverages, what_was_not_recorded_is_absent) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::mm", 0, 100);
  const KeyAverages averages = key_averages(sketch.build());

  const KeyAverage mm = row(averages, "aten::mm");
  EXPECT_EQ(mm.self_device_ns, std::nullopt);
  EXPECT_EQ(mm.cpu_memory_bytes, std::nullopt);
  EXPECT_EQ(mm.flops, std::nullopt);
  EXPECT_EQ(mm.input_shapes, std::nullopt);
  EXPECT_EQ(mm.stack, std::nullopt);
  EXPECT_EQ(averages.totals.self_device_ns, std::nullopt);
}

TEST(KeyAverages, grouping_by_shape_tells_shapes_apart_but_not_those_of_tensor_lists) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.set_inputs(sketch.op(main, "aten::mm", 0, 10), "[[2,3],[3,4]]");
  sketch.set_inputs(sketch.op(main, "aten::mm", 10, 30), "[[2,3],[3,4]]");
  sketch.set_inputs(sketch.op(main, "aten::mm", 30, 60), "[[5,3],[3,4]]");
  sketch.set_inputs(sketch.op(main, "aten::cat", 60, 70), "[[[2],[3]],[]]");
  sketch.set_inputs(sketch.op(main, "aten::cat", 70, 80), "[[[7],[8]],[]]");
  sketch.op(main, "aten::cat", 80, 90);
  KeyAveragesOptions options;
  options.grouping = Grouping::kShape;
  const KeyAverages averages = key_averages(sketch.build(), options);

  ASSERT_EQ(averages.rows.size(), 4);
  EXPECT_EQ(averages.rows[0].input_shapes, (std::vector<Shape>{{2, 3}, {3, 4}}));
  EXPECT_EQ(averages.rows[0].calls, 2);
  EXPECT_EQ(averages.rows[0].flops, 2 * (2 * 2 * 3 * 4));
  EXPECT_EQ(averages.rows[1].input_shapes, (std::vector<Shape>{{5, 3}, {3, 4}}));
  EXPECT_EQ(averages.rows[2].input_shapes, (std::vector<Shape>{{}, {}}));
  EXPECT_EQ(averages.rows[2].calls, 2);
  EXPECT_EQ(averages.rows[3].input_shapes, std::nullopt);
}

TEST(KeyAverages, grouping_by_stack_tells_callers_apart) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "a.py(1): f", 0, 100);
  sketch.op(main, "aten::mm", 10, 20);
  sketch.op(main, "aten::mm", 30, 40);
  sketch.event(main, Kind::kPython, "b.py(2): g", 100, 200);
  sketch.op(main, "aten::mm", 110, 120);
  KeyAveragesOptions options;
  options.grouping = Grouping::kStack;
  const KeyAverages averages = key_averages(sketch.build(), options);

  ASSERT_EQ(averages.rows.size(), 2);
  EXPECT_EQ(averages.rows[0].stack, std::vector<std::string>{"a.py(1): f"});
  EXPECT_EQ(averages.rows[0].calls, 2);
  EXPECT_EQ(averages.rows[1].stack, std::vector<std::string>{"b.py(2): g"});
}

TEST(KeyAverages, a_modules_self_time_leaves_out_nested_modules_only) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kModule, "nn.Module: Net_0", 0, 100);
  sketch.event(main, Kind::kPython, "net.py(3): forward", 5, 95);
  sketch.event(main, Kind::kModule, "nn.Module: Linear_0", 10, 50);
  sketch.op(main, "aten::linear", 15, 45);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 20, 30);
  sketch.op(main, "aten::relu", 60, 80);
  const auto own_launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 65, 70);
  const auto gemm = sketch.event(stream, Kind::kKernel, "gemm", 200, 207);
  const auto relu = sketch.event(stream, Kind::kKernel, "relu", 210, 213);
  sketch.set_cause(gemm, launch);
  sketch.set_cause(relu, own_launch);
  KeyAveragesOptions options;
  options.kinds = {Kind::kModule, Kind::kPython};
  const KeyAverages averages = key_averages(sketch.build(), options);

  const KeyAverage net = row(averages, "nn.Module: Net_0", Kind::kModule);
  EXPECT_EQ(net.self_cpu_ns, 60);
  EXPECT_EQ(net.self_device_ns, 3);
  EXPECT_EQ(net.device_ns, 10);
  EXPECT_EQ(row(averages, "nn.Module: Linear_0", Kind::kModule).self_device_ns, 7);
  // A call of a module is a Python call: what runs inside it is not the caller's own.
  EXPECT_EQ(row(averages, "net.py(3): forward", Kind::kPython).self_cpu_ns, 90 - 40);
  EXPECT_EQ(row(averages, "net.py(3): forward", Kind::kPython).self_device_ns, 3);
}

TEST(KeyAverages, know_where_a_row_stands_when_that_is_one_place) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (const auto& [name, start] :
       {std::pair("here", 0), {"here", 10}, {"twice", 20}, {"twice", 30}, {"half", 40}, {"half", 50}})
    sketch.event(main, Kind::kAnnotation, name, start, start + 5);
  Trace& trace = sketch.trace();
  const StringId file = trace.strings.intern("model.h"), function = trace.strings.intern("classify");
  trace.source_locations = {{file, function, 7}, {file, function, 9}};
  for (const auto& [event, place] : {std::pair(0U, 0U), {1U, 0U}, {2U, 0U}, {3U, 1U}, {5U, 1U}})
    trace.sources.append(event, place);
  const KeyAverages averages = key_averages(sketch.build());
  EXPECT_EQ(row(averages, "here", Kind::kAnnotation).source, (SourceLine{"model.h", 7, "classify"}));
  EXPECT_EQ(row(averages, "twice", Kind::kAnnotation).source, std::nullopt);
  EXPECT_EQ(row(averages, "half", Kind::kAnnotation).source, std::nullopt) << "one of its calls stands nowhere";
}

}  // namespace
}  // namespace telltale
