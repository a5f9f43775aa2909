#include "analysis/batch_size.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Steps of 100, in which layers of so many rows begin, each followed by a backward pass where `trains`.
std::optional<std::int64_t> samples(const std::vector<std::vector<int>>& rows_by_step, bool trains) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  Nanoseconds start = 0;
  for (const std::vector<int>& batches : rows_by_step) {
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(start / 100), start, start + 100);
    Nanoseconds now = start;
    for (const int rows : batches) {
      sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", now, now + 5);
      const auto layer = sketch.op(thread, "aten::linear", now + 1, now + 5);
      sketch.set_inputs(layer, "[[" + std::to_string(rows) + ", 32], [64, 32], [64]]");
      if (trains) {
        const auto backward =
            sketch.op(thread, "autograd::engine::evaluate_function: AddmmBackward0", now + 6, now + 9);
        sketch.set_cause(backward, layer);
      }
      now += 10;
    }
    start += 100;
  }
  const Trace trace = sketch.build();
  return samples_per_step(trace, step_timing(trace), phase_by_event(trace, host_work_by_event(trace)));
}

TEST(SamplesPerStep, are_the_rows_of_the_first_layer_in_most_steps) {
  EXPECT_EQ(samples({{32}, {32}, {7}}, true), 32);
  EXPECT_EQ(samples({{32}, {8}}, true), std::nullopt);
}

TEST(SamplesPerStep, are_not_known_where_gradients_are_accumulated) {
  EXPECT_EQ(samples({{32, 32}, {32, 32}, {32, 32}}, true), std::nullopt);
  EXPECT_EQ(samples({{32, 32}, {32, 32}, {32, 32}}, false), 32);  // two layers of one pass
}

}  // namespace
}  // namespace telltale
