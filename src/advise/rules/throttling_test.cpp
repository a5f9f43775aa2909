#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Forty steps of 90 ms in a kernel and 10 on the host, which waits for it. Each has a reading: every other one is
// throttled, at 1,500 instead of 2,000 MHz.
struct ThrottledProgram {
  std::string_view kernel = "sm90_xmma_gemm_bf16bf16";
  double reason = 0x4, throttled_mhz = 1500;
  Nanoseconds on_host = 10 * kMillisecond;
};

Trace throttled(const ThrottledProgram& with) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200", {}, 9, 0});
  std::vector<Nanoseconds> times;
  for (int step = 0; step < 40; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(5): step");
    program.run(Kind::kOperator, "aten::think", with.on_host);
    times.push_back(program.now());
    program.kernel({.op = "aten::mm", .name = with.kernel, .duration = 90 * kMillisecond});
    program.wait();
    program.close();
  }
  TraceSketch& sketch = program.sketch();
  const auto is_throttled = [](std::size_t i) { return i % 2 == 0; };
  for (const Nanoseconds time : times) sketch.count("GPU 0: utilization (%)", time, 90);
  for (std::size_t i = 0; i < times.size(); ++i)
    sketch.count("GPU 0: SM clock (MHz)", times[i], is_throttled(i) ? with.throttled_mhz : 2000);
  for (std::size_t i = 0; i < times.size(); ++i)
    sketch.count("GPU 0: throttle reasons", times[i], is_throttled(i) ? with.reason : 0);
  return program.build();
}

// Half of the time at three quarters of the clock: an eighth of the 90 ms.
TEST(ThrottlingRule, products_take_as_much_less_as_the_clock_would_be_higher) {
  const std::vector<Finding> findings = findings_of(throttled({}), "throttling");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(likely_ms(findings[0]), 90.0 / 8, 0.3);
  EXPECT_EQ(findings[0].saving.low, findings[0].saving.high);
  EXPECT_EQ(findings[0].fix.id, "raise_power_limit");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 5, "step"}));
  EXPECT_TRUE(
      findings[0].explanation.starts_with("For 50 % of its busy time GPU 0 lowers its clock (power limit): to "
                                          "1,500 MHz, from 2,000 MHz"))
      << findings[0].explanation;
}

TEST(ThrottlingRule, other_kernels_may_wait_for_memory) {
  const std::vector<Finding> findings =
      findings_of(throttled({.kernel = "vectorized_elementwise_kernel"}), "throttling");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].saving.low, 0);
  EXPECT_NEAR(likely_ms(findings[0]), 90.0 / 16, 0.3);
  EXPECT_NEAR(static_cast<double>(findings[0].saving.high) / 1e6, 90.0 / 8, 0.3);
}

TEST(ThrottlingRule, heat_is_another_matter_than_power) {
  const std::vector<Finding> findings = findings_of(throttled({.reason = 0x20}), "throttling");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.id, "cool_device");
}

TEST(ThrottlingRule, is_silent_where_it_costs_little_or_clocks_were_chosen) {
  EXPECT_TRUE(findings_of(throttled({.throttled_mhz = 1900}), "throttling").empty());  // 2.25 of 100 ms
  EXPECT_TRUE(findings_of(throttled({.reason = 0x2}), "throttling").empty());
  EXPECT_TRUE(findings_of(throttled({.on_host = 400 * kMillisecond}), "throttling").empty());
}

const RuleSample kByPower("throttling", "power limit", [] { return throttled({}); });
const RuleSample kByHeat("throttling", "temperature", [] { return throttled({.reason = 0x60}); });

}  // namespace
}  // namespace telltale
