// Work of CUDA graphs counts for what captured it, in everything that tells where device work comes from.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/call_stacks.h"
#include "analysis/kernel_summary.h"
#include "analysis/key_averages.h"
#include "analysis/module_times.h"
#include "analysis/phases.h"
#include "analysis/source_line.h"
#include "analysis/testing/trace_sketch.h"
#include "analysis/work_class.h"

namespace telltale {
namespace {

// A product that is captured before the first of two steps, each of which launches a graph of two kernels: the product
// (20 ns), and one that was captured before the recording (5 ns).
class GraphOrigins : public testing::Test {
 protected:
  GraphOrigins() {
    const TrackId main = sketch_.thread("main"), stream = sketch_.stream(0, 7);
    sketch_.event(main, Kind::kModule, "nn.Module: Net_0", 0, 100);
    const auto mm = sketch_.op(main, "aten::mm", 10, 60);
    sketch_.set_inputs(mm, "[[64,64],[64,64]]");
    sketch_.set_types(mm, R"(["float","float"])");
    sketch_.set_call_stack(mm, "model.py(12): forward;nn.Module: Net_0;train.py(3): main");
    const auto captured = sketch_.event(main, Kind::kDriver, "cuLaunchKernel", 20, 30);
    for (const Nanoseconds step : {1000, 1100}) {
      sketch_.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), step, step + 100);
      const auto launch = sketch_.event(main, Kind::kDriver, "cuGraphLaunch", step + 10, step + 20);
      products_.push_back(sketch_.work(stream, Kind::kKernel, "kernel_of_mine", step + 30, step + 50, launch));
      heads_.push_back(sketch_.work(stream, Kind::kKernel, "head", step + 50, step + 55, launch));
    }
    trace_ = sketch_.build();
    const StringId stack = trace_.strings.intern("head.py(7): forward;nn.Module: Head_1;nn.Module: Net_0");
    for (std::size_t i = 0; i < products_.size(); ++i) {
      trace_.graph_origins.append(sketch_.id(products_[i]), {sketch_.id(captured), kEmptyString});
      trace_.graph_origins.append(sketch_.id(heads_[i]), {kNoEvent, stack});
    }
  }

  EventId product(std::size_t i) const { return sketch_.id(products_[i]); }
  EventId head(std::size_t i) const { return sketch_.id(heads_[i]); }

  std::optional<Nanoseconds> device_time_of_products(bool counts_captures) const {
    const KeyAverages averages = key_averages(trace_, {.counts_captures = counts_captures});
    const auto row = std::ranges::find(averages.rows, "aten::mm", &KeyAverage::name);
    return row == averages.rows.end() ? std::nullopt : row->self_device_ns;
  }

  TraceSketch sketch_;
  std::vector<TraceSketch::Handle> products_, heads_;
  Trace trace_;
};

TEST_F(GraphOrigins, give_kernels_their_lines_and_stacks) {
  EXPECT_EQ(source_line(trace_, product(1)), (SourceLine{"model.py", 12, "forward"}));
  EXPECT_EQ(source_line(trace_, head(0)), (SourceLine{"head.py", 7, "forward"}));
  CallStacks stacks(trace_, 3);
  EXPECT_EQ(stacks.frames(stacks.of(head(1))),
            (std::vector<std::string>{"head.py(7): forward", "nn.Module: Head_1", "nn.Module: Net_0"}));
  EXPECT_EQ(stacks.of(product(0)), stacks.of(product(1)));
}

TEST_F(GraphOrigins, give_kernels_to_the_operators_that_captured_them) {
  EXPECT_EQ(device_time_of_products(true), 40);
  EXPECT_EQ(device_time_of_products(false), 0);  // as torch counts
  const KeyAverages step = key_averages(trace_, {.steps = StepRange{1100, 1100}, .counts_captures = true});
  const auto row = std::ranges::find(step.rows, "aten::mm", &KeyAverage::name);
  ASSERT_NE(row, step.rows.end());
  EXPECT_EQ(row->self_device_ns, 20);
  EXPECT_EQ(row->calls, 0);  // that step only launched what it had captured
}

TEST_F(GraphOrigins, give_kernels_to_the_modules_that_captured_them) {
  const auto times = module_times(trace_, step_timing(trace_), phase_by_event(trace_, host_work_by_event(trace_)));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].path, "Net_0");
  EXPECT_EQ(times[0].device_ns(), 25);  // a step
  EXPECT_EQ(times[0].self_device_ns, 20);
  EXPECT_EQ(times[1].path, "Net_0/Head_1");
  EXPECT_EQ(times[1].device_ns(), 5);
}

TEST_F(GraphOrigins, tell_what_kernels_compute_in_each_launch) {
  EXPECT_EQ(WorkClassifier(trace_)(product(0)), WorkClass::kMatmul);
  const KernelSummary summary = kernel_summary(trace_, step_timing(trace_));
  double flops = 0;
  for (const DeviceCall& call : summary.calls) {
    EXPECT_EQ(call.op, kNoEvent);  // no operator of the step launched it
    flops += call.flops.value_or(0);
  }
  EXPECT_EQ(flops, 2 * 2.0 * 64 * 64 * 64);  // both replays
}

TEST_F(GraphOrigins, tell_the_phase) {
  const std::vector<Phase> phases = phase_by_event(trace_, host_work_by_event(trace_));
  EXPECT_EQ(phases[product(0)], Phase::kForward);
  EXPECT_EQ(phases[head(0)], Phase::kOther);
}

}  // namespace
}  // namespace telltale
