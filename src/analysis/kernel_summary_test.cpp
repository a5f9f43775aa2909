#include "analysis/kernel_summary.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kGemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
constexpr std::string_view kSplitK = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>";
constexpr std::string_view kRelu = "void at::native::vectorized_elementwise_kernel<4, at::native::relu<float>>";

// A thread that launches and a stream of an H200 that works.
struct LaunchingThread {
  LaunchingThread() {
    thread = sketch.thread("main");
    stream = sketch.stream(0, 7);
    Device device;
    device.id = 0;
    device.name = "NVIDIA H200";
    device.max_threads_per_multiprocessor = 2048;
    device.registers_per_multiprocessor = 65536;
    device.shared_memory_per_multiprocessor = 233472;
    sketch.trace().devices.push_back(device);
  }

  TraceSketch::Handle op(std::string_view name, std::string_view shapes, std::string_view types) {
    const auto handle = sketch.op(thread, name, at, at + 100);
    sketch.set_inputs(handle, shapes);
    sketch.trace().operator_inputs.back().types = sketch.trace().strings.intern(types);
    launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at + 10, at + 20);
    at += 100;
    return handle;
  }
  // Launched by the last operator, one after another on the device.
  TraceSketch::Handle kernel(std::string_view name, Nanoseconds duration) {
    device_at += duration;
    return sketch.work(stream, Kind::kKernel, name, device_at - duration, device_at, launch);
  }
  void step(std::int64_t index, Nanoseconds start, Nanoseconds end) {
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(index), start, end);
  }

  TraceSketch sketch;
  TrackId thread = 0, stream = 0;
  TraceSketch::Handle launch = 0;
  Nanoseconds at = 0, device_at = 1000;
};

KernelSummary summary_of(const Trace& trace) { return kernel_summary(trace, step_timing(trace)); }

TEST(KernelSummary, of_a_product_has_its_rate_and_its_distance_from_the_roofline) {
  LaunchingThread program;
  program.op("aten::mm", "[[4096,4096],[4096,4096]]", R"(["c10::BFloat16","c10::BFloat16"])");
  const auto kernel = program.kernel(kGemm, 200'000);
  const Trace trace = program.sketch.build();
  const KernelSummary summary = summary_of(trace);

  ASSERT_EQ(summary.rows.size(), 1U);
  const KernelRow& row = summary.rows[0];
  EXPECT_EQ(row.name, kGemm);
  EXPECT_EQ(row.work, WorkClass::kMatmul);
  EXPECT_EQ(row.traits, (KernelTraits{Precision::kBf16, true}));
  EXPECT_EQ(row.example, program.sketch.id(kernel));
  const double flops = 2.0 * 4096 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(row.flops_per_second.value(), flops / 200e-6);
  EXPECT_DOUBLE_EQ(row.bytes_per_second.value(), 3 * 2.0 * 4096 * 4096 / 200e-6);
  EXPECT_NEAR(row.roofline_percent.value(), 100 * flops / 989.4e12 / 200e-6, 1e-6);
  ASSERT_TRUE(summary.peaks);
  EXPECT_EQ(summary.peaks->name, "H200");
}

TEST(KernelSummary, of_an_elementwise_kernel_is_measured_against_the_memory) {
  LaunchingThread program;
  program.op("aten::relu", "[[100000000]]", R"(["float"])");
  program.kernel(kRelu, 250'000);
  const KernelSummary summary = summary_of(program.sketch.build());
  EXPECT_EQ(summary.calls.at(0).flops, std::nullopt);
  EXPECT_NEAR(summary.rows.at(0).roofline_percent.value(), 100 * 800e6 / 4.8e12 / 250e-6, 1e-6);
}

TEST(KernelSummary, shares_an_operators_work_among_the_kernels_of_its_main_class) {
  LaunchingThread program;
  const auto mm = program.op("aten::mm", "[[1000,1000],[1000,1000]]", R"(["c10::BFloat16","c10::BFloat16"])");
  program.kernel("void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>", 100'000);  // the longest
  program.kernel(kGemm, 30'000);
  program.kernel(kSplitK, 10'000);
  const Trace trace = program.sketch.build();
  const KernelSummary summary = summary_of(trace);

  ASSERT_EQ(summary.calls.size(), 3U);
  for (const DeviceCall& call : summary.calls) EXPECT_EQ(call.op, program.sketch.id(mm));
  EXPECT_EQ(summary.calls[0].flops, std::nullopt);
  EXPECT_DOUBLE_EQ(summary.calls[1].flops.value(), 0.75 * 2e9);
  EXPECT_DOUBLE_EQ(summary.calls[2].flops.value(), 0.25 * 2e9);
  // Both at the ceiling of the product itself, though the second one's own name says fp32 without tensor cores.
  EXPECT_DOUBLE_EQ(summary.calls[2].roofline_seconds.value(), 0.25 * 2e9 / 989.4e12);
}

TEST(KernelSummary, never_allows_a_kernel_less_time_than_its_cache_made_it_take) {
  LaunchingThread program;
  program.op("aten::relu", "[[100000000]]", R"(["float"])");
  program.kernel(kRelu, 100'000);  // the memory would need 167 us
  const KernelSummary summary = summary_of(program.sketch.build());
  EXPECT_DOUBLE_EQ(summary.calls.at(0).roofline_seconds.value(), 100e-6);
  EXPECT_DOUBLE_EQ(summary.rows.at(0).roofline_percent.value(), 100);
}

TEST(KernelSummary, counts_calls_of_all_steps_and_times_of_one) {
  LaunchingThread program;
  program.step(1, 0, 200);
  program.step(2, 200, 400);
  for (const Nanoseconds duration : {10'000, 20'000, 40'000, 50'000}) {
    program.op("aten::relu", "[[10]]", R"(["float"])");
    program.kernel(kRelu, duration);
  }
  program.op("aten::relu", "[[10]]", R"(["float"])");  // after the last step
  program.kernel(kRelu, 1'000'000);
  const KernelSummary summary = summary_of(program.sketch.build());
  ASSERT_EQ(summary.rows.size(), 1U);
  EXPECT_EQ(summary.calls.size(), 4U);
  EXPECT_EQ(summary.rows[0].calls, 4);
  EXPECT_EQ(summary.rows[0].device_ns, 60'000);
  EXPECT_DOUBLE_EQ(summary.rows[0].mean_ns, 30'000);
}

TEST(KernelSummary, lists_what_takes_longest_first) {
  LaunchingThread program;
  program.op("aten::relu", "[[10]]", R"(["float"])");
  program.kernel("short", 10);
  program.kernel("long", 30);
  program.kernel("short", 10);
  const KernelSummary summary = summary_of(program.sketch.build());
  ASSERT_EQ(summary.rows.size(), 2U);
  EXPECT_EQ(summary.rows[0].name, "long");
  EXPECT_EQ(summary.rows[1].calls, 2);
}

TEST(KernelSummary, keeps_classes_of_one_name_apart) {
  LaunchingThread program;
  program.sketch.event(program.thread, Kind::kAnnotation, "Optimizer.step#SGD.step", 0, 100);
  program.op("aten::add_", "[[10]]", R"(["float"])");
  program.kernel(kRelu, 30);
  program.op("aten::relu", "[[10]]", R"(["float"])");
  program.kernel(kRelu, 10);
  const KernelSummary summary = summary_of(program.sketch.build());
  ASSERT_EQ(summary.rows.size(), 2U);
  EXPECT_EQ(summary.rows[0].work, WorkClass::kOptimizer);
  EXPECT_EQ(summary.rows[1].work, WorkClass::kElementwise);
}

TEST(KernelSummary, measures_copies_on_the_device_against_the_memory_and_others_not_at_all) {
  LaunchingThread program;
  program.op("aten::copy_", "[[10],[10]]", R"(["float","float"])");
  const auto within = program.sketch.work(program.stream, Kind::kMemcpy, "Memcpy DtoD", 0, 1000, program.launch);
  const auto upwards = program.sketch.work(program.stream, Kind::kMemcpy, "Memcpy HtoD", 2000, 3000, program.launch);
  const auto fill = program.sketch.work(program.stream, Kind::kMemset, "Memset", 4000, 5000, program.launch);
  program.sketch.set_copy(within, {1'200'000, MemorySpace::kDevice, MemorySpace::kDevice});
  program.sketch.set_copy(upwards, {1'200'000, MemorySpace::kPinned, MemorySpace::kDevice});
  program.sketch.set_copy(fill, {1'200'000, MemorySpace::kUnknown, MemorySpace::kUnknown});
  const KernelSummary summary = summary_of(program.sketch.build());
  ASSERT_EQ(summary.calls.size(), 3U);
  EXPECT_DOUBLE_EQ(summary.calls[0].bytes.value(), 2.4e6);
  EXPECT_DOUBLE_EQ(summary.calls[0].roofline_seconds.value(), 2.4e6 / 4.8e12);
  EXPECT_DOUBLE_EQ(summary.calls[1].bytes.value(), 1.2e6);
  EXPECT_EQ(summary.calls[1].roofline_seconds, std::nullopt);
  EXPECT_DOUBLE_EQ(summary.calls[2].roofline_seconds.value(), 1.2e6 / 4.8e12);
}

TEST(KernelSummary, weighs_the_filling_of_the_device_by_time) {
  LaunchingThread program;
  program.op("aten::relu", "[[10]]", R"(["float"])");
  const auto first = program.kernel(kRelu, 30'000);
  const auto second = program.kernel(kRelu, 10'000);
  Trace trace = program.sketch.build();
  KernelLaunch launch;
  launch.block = {256, 1, 1};
  launch.blocks_per_multiprocessor = 16;
  trace.kernel_launches = {launch, launch};
  trace.kernel_launches[1].blocks_per_multiprocessor = 4;
  trace.kernels.append(program.sketch.id(first), {0});
  trace.kernels.append(program.sketch.id(second), {1});
  const KernelRow row = summary_of(trace).rows.at(0);
  // 2048 threads are 8 blocks of 256: two waves of a full device, then half a wave.
  EXPECT_DOUBLE_EQ(row.waves.value(), 0.75 * 2 + 0.25 * 0.5);
  EXPECT_DOUBLE_EQ(row.occupancy_percent.value(), 0.75 * 100 + 0.25 * 50);
  EXPECT_DOUBLE_EQ(row.blocks_per_multiprocessor.value(), 0.75 * 16 + 0.25 * 4);
}

TEST(KernelSummary, leaves_out_what_a_trace_without_shapes_or_known_device_cannot_tell) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  const auto op = sketch.op(thread, "aten::mm", 0, 10);
  sketch.work(stream, Kind::kKernel, kGemm, 20, 30, op);
  sketch.event(stream, Kind::kKernel, "no launch", 40, 40);
  const KernelSummary summary = summary_of(sketch.build());
  EXPECT_FALSE(summary.peaks);
  ASSERT_EQ(summary.rows.size(), 2U);
  EXPECT_EQ(summary.rows[0].traits.precision, Precision::kBf16);
  EXPECT_FALSE(summary.rows[0].flops_per_second || summary.rows[0].roofline_percent || summary.rows[0].waves);
}

TEST(KernelSummary, of_a_trace_without_events_is_empty) {
  TraceSketch sketch;
  const KernelSummary summary = summary_of(sketch.build());
  EXPECT_TRUE(summary.calls.empty());
  EXPECT_TRUE(summary.rows.empty());
}

// By NVIDIA's occupancy calculator for compute capability 9.0.
TEST(Waves, are_limited_by_threads_registers_shared_memory_and_blocks) {
  Device device;
  device.max_threads_per_multiprocessor = 2048;
  device.registers_per_multiprocessor = 65536;
  device.shared_memory_per_multiprocessor = 233472;
  const auto resident = [&](std::int32_t threads, std::int32_t registers, std::int32_t shared) {
    KernelLaunch launch;
    launch.block = {threads, 1, 1};
    launch.registers_per_thread = registers;
    launch.shared_memory_bytes = shared;
    launch.blocks_per_multiprocessor = 1;
    return 1 / waves_of(launch, device).value_or(0);
  };
  EXPECT_DOUBLE_EQ(resident(512, 32, 0), 4);
  EXPECT_DOUBLE_EQ(resident(256, 128, 0), 2);
  EXPECT_DOUBLE_EQ(resident(128, 33, 0), 12);  // registers are given out in units of 256 a warp: 40 a thread
  EXPECT_DOUBLE_EQ(resident(128, 32, 100'000), 2);
  EXPECT_DOUBLE_EQ(resident(32, 16, 0), 32);
}

TEST(Waves, are_unknown_for_launches_that_cannot_be) {
  Device device;
  KernelLaunch launch;
  EXPECT_EQ(waves_of(launch, device), std::nullopt);
  device.max_threads_per_multiprocessor = 2048;
  EXPECT_EQ(waves_of(launch, device), std::nullopt);  // no block
  launch.block = {64, 64, 1};                         // more threads than fit
  launch.blocks_per_multiprocessor = 1;
  EXPECT_EQ(waves_of(launch, device), std::nullopt);
}

}  // namespace
}  // namespace telltale
