#include "analysis/host_work.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

HostWork work_of(Kind kind, std::string_view name) {
  TraceSketch sketch;
  sketch.event(is_on_device(kind) ? sketch.stream(0, 7) : sketch.thread("main"), kind, name, 0, 10);
  sketch.op(sketch.thread("of a framework"), "aten::mm", 0, 10);
  return host_work_by_event(sketch.build()).at(0);
}

HostWork work_of_call(std::string_view name) { return work_of(Kind::kRuntime, name); }

TEST(HostWork, of_a_call_is_told_by_its_name) {
  EXPECT_EQ(work_of_call("cudaLaunchKernel"), HostWork::kLaunching);
  EXPECT_EQ(work_of(Kind::kDriver, "cuLaunchKernelEx"), HostWork::kLaunching);
  EXPECT_EQ(work_of_call("cudaMemsetAsync"), HostWork::kLaunching);
  EXPECT_EQ(work_of(Kind::kDriver, "cuMemsetD8Async"), HostWork::kLaunching);
  EXPECT_EQ(work_of_call("cudaEventRecord"), HostWork::kLaunching);
  EXPECT_EQ(work_of_call("cudaFuncGetAttributes"), HostWork::kLaunching);
  EXPECT_EQ(work_of_call("cudaMemcpyAsync"), HostWork::kCopies);
  EXPECT_EQ(work_of_call("cudaMemcpy"), HostWork::kSync);
  EXPECT_EQ(work_of_call("cudaStreamSynchronize"), HostWork::kSync);
  EXPECT_EQ(work_of(Kind::kDriver, "cuStreamSynchronize"), HostWork::kSync);
  EXPECT_EQ(work_of_call("cudaMalloc"), HostWork::kAllocator);
  EXPECT_EQ(work_of_call("cudaFree"), HostWork::kAllocator);
  EXPECT_EQ(work_of_call("cudaHostAlloc"), HostWork::kAllocator);
  EXPECT_EQ(work_of(Kind::kDriver, "cuMemCreate"), HostWork::kAllocator);
  EXPECT_EQ(work_of_call("hipMalloc"), HostWork::kAllocator);
  EXPECT_EQ(work_of(Kind::kDriver, "cuModuleLoadData"), HostWork::kCompilation);
}

TEST(HostWork, of_other_events_is_told_by_their_kind) {
  EXPECT_EQ(work_of(Kind::kOperator, "aten::mm"), HostWork::kOperators);
  EXPECT_EQ(work_of(Kind::kPython, "train.py(3): step"), HostWork::kPython);
  EXPECT_EQ(work_of(Kind::kModule, "nn.Module: Linear_0"), HostWork::kPython);
  EXPECT_EQ(work_of(Kind::kAnnotation, "ProfilerStep#3"), HostWork::kPython);
  EXPECT_EQ(work_of(Kind::kOverhead, "Activity Buffer Request"), HostWork::kUnknown);
  EXPECT_EQ(work_of(Kind::kKernel, "gemm"), HostWork::kUnknown);
}

TEST(HostWork, of_calls_that_wait_is_waiting_but_for_loaders) {
  EXPECT_EQ(work_of(Kind::kPython, "<built-in function sleep>"), HostWork::kWaiting);
  EXPECT_EQ(work_of(Kind::kPython, "<waits for lock>"), HostWork::kWaiting);
  EXPECT_EQ(work_of(Kind::kAnnotation, "<waits for lock>"), HostWork::kPython);
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto loading =
      sketch.event(main, Kind::kAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter", 0, 9);
  const auto wait = sketch.event(main, Kind::kPython, "<waits for pipe>", 1, 8);
  const std::vector<HostWork> work = host_work_by_event(sketch.build());
  EXPECT_EQ(work.at(sketch.id(loading)), HostWork::kDataLoading);
  EXPECT_EQ(work.at(sketch.id(wait)), HostWork::kDataLoading);
}

TEST(HostWork, of_scopes_is_their_own_in_a_program_without_a_framework) {
  for (const Kind other : {Kind::kOperator, Kind::kPython, Kind::kModule, Kind::kRuntime}) {
    TraceSketch sketch;
    const TrackId main = sketch.thread("main");
    sketch.event(main, Kind::kAnnotation, "batch", 0, 10);
    sketch.event(main, Kind::kOther, "layer", 20, 30);
    sketch.event(main, other, "call", 40, 50);
    const HostWork expected = other == Kind::kRuntime ? HostWork::kScopes : HostWork::kPython;
    const std::vector<HostWork> work = host_work_by_event(sketch.build());
    EXPECT_EQ(work.at(0), expected);
    EXPECT_EQ(work.at(1), expected);
  }
}

TEST(HostWork, of_an_operator_is_not_told_by_a_name_like_a_calls) {
  EXPECT_EQ(work_of(Kind::kOperator, "mine::StreamSynchronize"), HostWork::kOperators);
  EXPECT_EQ(work_of(Kind::kPython, "cudaMalloc"), HostWork::kPython);
}

TEST(HostWork, loading_compiling_and_collecting_cover_what_is_called_within) {
  constexpr std::pair<std::string_view, HostWork> kCovering[] = {
      {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", HostWork::kDataLoading},
      {"torch/utils/data/dataloader.py(701): __next__", HostWork::kDataLoading},
      {"<built-in function collect>", HostWork::kGarbageCollection},
      {"torch/_dynamo/convert_frame.py(1200): __call__", HostWork::kCompilation},
      {"triton/compiler/compiler.py(226): compile", HostWork::kCompilation},
      {"inductor_codegen (dynamo_timed)", HostWork::kCompilation},
  };
  for (const auto& [name, work] : kCovering) {
    TraceSketch sketch;
    const TrackId main = sketch.thread("main");
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 100);
    const auto outer = sketch.event(main, Kind::kPython, name, 10, 90);
    const auto inner = sketch.op(main, "aten::stack", 20, 60);
    const auto innermost = sketch.event(main, Kind::kRuntime, "cudaStreamSynchronize", 30, 40);
    const auto behind = sketch.event(main, Kind::kRuntime, "cudaStreamSynchronize", 91, 92);
    const std::vector<HostWork> by_event = host_work_by_event(sketch.build());
    EXPECT_EQ(by_event[sketch.id(outer)], work) << name;
    EXPECT_EQ(by_event[sketch.id(inner)], work) << name;
    EXPECT_EQ(by_event[sketch.id(innermost)], work) << name;
    EXPECT_EQ(by_event[sketch.id(behind)], HostWork::kSync) << name;
  }
}

TEST(HostWork, running_what_was_compiled_is_no_compilation) {
  EXPECT_EQ(work_of(Kind::kAnnotation, "Torch-Compiled Region: 0/0"), HostWork::kPython);
  EXPECT_EQ(work_of(Kind::kAnnotation, "## Call CompiledFxGraph fabc ##"), HostWork::kPython);
}

TEST(HostWork, what_a_recorder_does_for_itself_is_none) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto op = sketch.op(main, "aten::add", 0, 100);
  const auto start = sketch.event(main, Kind::kOverhead, "CUPTI start", 10, 50);
  const auto inside = sketch.event(main, Kind::kRuntime, "cudaDeviceSynchronize", 20, 40);
  const Trace trace = sketch.build();
  const std::vector<HostWork> work = host_work_by_event(trace);
  EXPECT_EQ(work[sketch.id(op)], HostWork::kOperators);
  EXPECT_EQ(work[sketch.id(start)], HostWork::kUnknown);
  EXPECT_EQ(work[sketch.id(inside)], HostWork::kUnknown);
}

TEST(HostWork, of_a_call_alone_is_told_by_its_name_and_kind) {
  EXPECT_EQ(work_of_call(Kind::kRuntime, "cudaStreamSynchronize"), HostWork::kSync);
  EXPECT_EQ(work_of_call(Kind::kOperator, "aten::mm"), HostWork::kOperators);
  EXPECT_EQ(work_of_call(Kind::kModule, "nn.Module: Linear_0"), HostWork::kPython);
  EXPECT_EQ(work_of_call(Kind::kPython, "torch/utils/data/dataloader.py(630): __next__"), HostWork::kDataLoading);
  EXPECT_EQ(work_of_call(Kind::kAnnotation, "step"), HostWork::kScopes);
  EXPECT_EQ(work_of_call(Kind::kKernel, "cudaMalloc"), HostWork::kUnknown);
  EXPECT_EQ(work_of_call(Kind::kOverhead, "Lazy Function Loading"), HostWork::kUnknown);
}

TEST(HostWork, of_a_trace_without_events_is_empty) { EXPECT_TRUE(host_work_by_event(TraceSketch().build()).empty()); }

TEST(HostWork, every_sort_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int i = 0; i < kHostWorkCount; ++i) names.insert(name_of(static_cast<HostWork>(i)));
  EXPECT_EQ(names.size(), kHostWorkCount);
  EXPECT_EQ(name_of(HostWork::kDataLoading), "data_loading");
  EXPECT_EQ(name_of(HostWork::kUnknown), "unknown");
}

}  // namespace

}  // namespace telltale
