#include "memory/standing_stacks.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// "a;b" and the bytes that b alone made.
std::map<std::string, std::int64_t> own_bytes(const StandingStacks& stacks) {
  std::vector<std::string> paths;
  std::map<std::string, std::int64_t> bytes;
  for (const FlameNode& node : stacks.tree.nodes) {
    const bool is_root = node.parent == FlameNode::kNoParent;
    paths.push_back((is_root ? "" : paths[static_cast<std::size_t>(node.parent)] + ";") + stacks.names[node.name]);
    bytes[paths.back()] += node.value;
    if (!is_root) bytes[paths[static_cast<std::size_t>(node.parent)]] -= node.value;
  }
  std::erase_if(bytes, [](const auto& each) { return each.second == 0; });
  return bytes;
}

using Bytes = std::map<std::string, std::int64_t>;

Trace training_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), engine = sketch.thread("backward");
  sketch.event(thread, Kind::kAnnotation, "ProfilerStep#3", 0, 1000);
  sketch.event(thread, Kind::kPython, "train.py(7): step", 1, 900);
  sketch.event(thread, Kind::kModule, "nn.Module: Net_0", 5, 100);
  sketch.event(thread, Kind::kModule, "nn.Module: Linear_1", 8, 60);
  const auto forward = sketch.op(thread, "aten::mm", 10, 50);
  sketch.op(thread, "aten::add", 200, 210);
  const auto backward = sketch.op(engine, "MmBackward0", 300, 400);
  sketch.set_cause(backward, forward);
  sketch.allocate(thread, 20, 5, 0, 1);
  sketch.allocate(thread, 30, 7, 0, 2);
  sketch.allocate(thread, 205, 11, 0, 3);
  sketch.allocate(engine, 310, 13, 0, 4);
  return sketch.build();
}

StandingStacks stacks_of(const Trace& trace, FlameFrames frames, std::int64_t allocated, std::string device = {}) {
  const auto blocks = used_blocks(trace, 0, phase_by_event(trace, host_work_by_event(trace)));
  const StandingBlocks standing{std::move(device), allocated, blocks};
  return standing_stacks(trace, std::span(&standing, 1), {.weight = FlameWeight::kBytes, .frames = frames});
}

TEST(StandingStacks, have_the_calls_around_each_allocation_without_the_steps) {
  const Trace trace = training_trace();
  const StandingStacks stacks = stacks_of(trace, FlameFrames::kStacks, 36);
  EXPECT_EQ(stacks.tree.total, 36);
  EXPECT_EQ(own_bytes(stacks), (Bytes{{"train.py(7): step;nn.Module: Net_0;nn.Module: Linear_1;aten::mm", 12},
                                      {"train.py(7): step;aten::add", 11},
                                      {"MmBackward0", 13}}));
  for (const FlameNode& node : stacks.tree.nodes) EXPECT_EQ(trace.name(node.example), stacks.names[node.name]);
}

TEST(StandingStacks, by_module_count_what_runs_backward_in_the_forward_module) {
  const Trace trace = training_trace();
  EXPECT_EQ(own_bytes(stacks_of(trace, FlameFrames::kModules, 36)),
            (Bytes{{"Net_0;Linear_1", 25}, {"outside of modules", 11}}));
}

TEST(StandingStacks, set_apart_what_was_there_before) {
  const Trace trace = training_trace();
  const StandingStacks stacks = stacks_of(trace, FlameFrames::kModules, 100, "GPU 0");
  EXPECT_EQ(stacks.tree.total, 100);
  EXPECT_EQ(
      own_bytes(stacks),
      (Bytes{{"GPU 0;Net_0;Linear_1", 25}, {"GPU 0;outside of modules", 11}, {"GPU 0;from before the recording", 64}}));
}

// As in a snapshot: no calls, but the allocator's own stacks, innermost first.
TEST(StandingStacks, have_the_frames_of_the_log_where_no_python_was_recorded) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::mm", 0, 100);
  Trace trace = sketch.build();
  const StringId stack = trace.strings.intern("model.py(12): forward;train.py(7): step");
  const std::vector<UsedBlock> blocks = {{.address = 1, .bytes = 10, .allocated = 5, .call_stack = stack},
                                         {.address = 2, .bytes = 20, .allocated = 6, .event = 0, .call_stack = stack},
                                         {.address = 3, .bytes = 40, .call_stack = stack},
                                         {.address = 4, .bytes = 80, .allocated = 7},
                                         {.address = 5, .bytes = 160}};
  const StandingBlocks standing{"", 310, blocks};
  const StandingStacks stacks = standing_stacks(trace, std::span(&standing, 1), {.weight = FlameWeight::kBytes});
  EXPECT_EQ(own_bytes(stacks), (Bytes{{"train.py(7): step;model.py(12): forward", 50},
                                      {"train.py(7): step;model.py(12): forward;aten::mm", 20},
                                      {"outside of calls", 80},
                                      {"from before the recording", 160}}));
}

}  // namespace
}  // namespace telltale
