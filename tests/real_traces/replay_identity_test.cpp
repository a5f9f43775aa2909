// A replay without an edit gives the step that was recorded.
#include <gtest/gtest.h>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "replay/step_graph.h"
#include "traces.h"

namespace telltale {
namespace {

constexpr double kMostPercentOff = 2;

TEST(ReplayIdentity, is_within_two_percent_of_every_recorded_step) {
  for (const std::filesystem::path& path : real_traces()) {
    const Trace trace = trace_of(path);
    const StepTiming timing = step_timing(trace);
    const auto recorded = static_cast<double>(timing.period());
    const ReplayedStep step = StepGraph(trace, timing, host_work_by_event(trace)).replay({});
    EXPECT_NEAR(static_cast<double>(step.period), recorded, kMostPercentOff / 100 * recorded) << path.filename();
    EXPECT_LE(step.device_busy, step.period) << path.filename();
    EXPECT_LE(step.host_busy, step.period) << path.filename();
  }
}

TEST(ReplayIdentity, keeps_the_time_for_which_the_device_works) {
  for (const std::filesystem::path& path : real_traces()) {
    const Trace trace = trace_of(path);
    const StepTiming timing = step_timing(trace);
    const ReplayedStep step = StepGraph(trace, timing, host_work_by_event(trace)).replay({});
    const auto recorded = static_cast<double>(timing.device_period);
    EXPECT_NEAR(static_cast<double>(step.device_busy), recorded, kMostPercentOff / 100 * recorded) << path.filename();
  }
}

}  // namespace
}  // namespace telltale
