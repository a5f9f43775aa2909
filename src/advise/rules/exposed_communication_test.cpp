#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Three steps: 10 ms of computing, a collective of 6 ms on a stream of its own that begins early or at the end of that,
// and 1 ms that needs both. The host launches all at once and waits.
Trace training(bool overlaps, std::string_view collective = kAllReduce) {
  ProgramSketch program;
  TraceSketch& sketch = program.sketch();
  const TrackId other = sketch.stream(0, 20);
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 3; ++i) {  // kernels that nothing holds up show how soon one follows a launch or another kernel
      program.kernel("aten::relu", 20 * kMicrosecond);
      program.kernel("aten::relu", 20 * kMicrosecond);
      program.wait();
    }
    const Nanoseconds start = program.now() + 10 * kMicrosecond;
    const auto launch = [&] { return program.run(Kind::kRuntime, "cudaLaunchKernel", 2 * kMicrosecond); };
    sketch.work(program.stream(), Kind::kKernel, "gemm", start, start + 10 * kMillisecond, launch());
    const Nanoseconds begin = overlaps ? start + 4 * kMillisecond : start + 10 * kMillisecond;
    sketch.work(other, Kind::kKernel, collective, begin, begin + 6 * kMillisecond, launch());
    const Nanoseconds after = std::max(begin + 6 * kMillisecond, start + 10 * kMillisecond);
    sketch.work(program.stream(), Kind::kKernel, "adam", after, after + 1 * kMillisecond, launch());
    program.run(Kind::kRuntime, "cudaDeviceSynchronize",
                after + 1 * kMillisecond + ProgramSketch::kWakeUp - program.now());
  }
  return program.build();
}

// The host needs 40 ms to launch what takes the device 10 ms of computing and 6 ms of communication behind it.
Trace behind_slow_host(Kind kind = Kind::kPython, std::string_view work = "train.py(3): think") {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 10 * kMillisecond});
    program.kernel({.op = "c10d::allreduce_", .name = kAllReduce, .duration = 6 * kMillisecond});
    program.run(kind, work, 40 * kMillisecond);
  }
  return program.build();
}

constexpr std::string_view kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

TEST(ExposedCommunicationRule, one_half_of_what_computation_could_hide_is_hidden) {
  const std::vector<Finding> findings = findings_of(training(false), "exposed_communication");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 3, 0.1);
  EXPECT_EQ(findings[0].fix.id, "overlap_communication");
  EXPECT_NE(findings[0].explanation.find(
                "Collectives take 6.00 ms per step, and for 6.00 ms of that the GPU computes nothing"),
            std::string::npos);
}

// A step has only one collective, so that there is nothing to put into one bucket; in 16 bits it takes half as long.
TEST(ExposedCommunicationRule, tells_what_overlap_buckets_and_bytes_would_buy) {
  const std::vector<Finding> findings = findings_of(training(false), "exposed_communication");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NE(findings[0].explanation.find("buckets twice as large nothing, and half as many bytes 3.00 ms."),
            std::string::npos)
      << findings[0].explanation;
}

TEST(ExposedCommunicationRule, promises_nothing_where_the_host_sets_the_pace_and_tells_what_it_would_be) {
  const std::vector<Finding> findings = findings_of(behind_slow_host(), "exposed_communication");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_EQ(findings[0].evidence.size(), 3);
  EXPECT_NE(findings[0].explanation.find("once the host keeps up, hiding half of what computation can hide would save "
                                         "3.00 ms per step"),
            std::string::npos)
      << findings[0].explanation;
}

TEST(ExposedCommunicationRule, tells_where_the_host_has_work_that_no_faster_launches_spare) {
  const std::vector<Finding> findings =
      findings_of(behind_slow_host(Kind::kAnnotation, kLoader), "exposed_communication");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_TRUE(findings[0].explanation.ends_with("and less communication saves nothing.")) << findings[0].explanation;
}

TEST(ExposedCommunicationRule, is_silent_when_communication_is_hidden) {
  EXPECT_TRUE(findings_of(training(true), "exposed_communication").empty());
}

TEST(ExposedCommunicationRule, is_silent_about_other_kernels) {
  EXPECT_TRUE(findings_of(training(false, "gemm_on_another_stream"), "exposed_communication").empty());
}

const RuleSample kBehindLoader("exposed_communication", "behind a loader",
                               [] { return behind_slow_host(Kind::kAnnotation, kLoader); });
const RuleSample kBehindSlowHost("exposed_communication", "behind a slow host", [] { return behind_slow_host(); });
const RuleSample kOneCollectivePerStep("exposed_communication", "one collective per step",
                                       [] { return training(false); });

}  // namespace
}  // namespace telltale
