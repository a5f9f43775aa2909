// Against trees by hand, and against stacks that are written out for each nanosecond's owner.
#include "analysis/flame_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "analysis/call_stacks.h"
#include "analysis/testing/program_sketch.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

using Stacks = std::map<std::string, std::int64_t>;

std::string_view name_of(const Trace& trace, const FlameNode& node) {
  return node.name == kEmptyString ? "outside" : trace.strings[node.name];
}

// "main;train.py(1): step;aten::mm" → what it takes with all within.
Stacks by_stack(const Trace& trace, const FlameTree& tree) {
  Stacks stacks;
  std::vector<std::string> paths;
  for (const FlameNode& node : tree.nodes) {
    const std::string around = node.parent < 0 ? "" : paths[static_cast<std::size_t>(node.parent)] + ';';
    paths.push_back(around + std::string(name_of(trace, node)));
    stacks[paths.back()] += node.value;
  }
  return stacks;
}

void expect_laws(const FlameTree& tree) {
  std::int64_t roots = 0;
  std::vector<std::int64_t> within(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const FlameNode& node = tree.nodes[i];
    EXPECT_GT(node.value, 0);
    if (node.parent < 0) {
      roots += node.value;
      continue;
    }
    const FlameNode& parent = tree.nodes[static_cast<std::size_t>(node.parent)];
    ASSERT_LT(static_cast<std::size_t>(node.parent), i);
    EXPECT_GE(node.start, parent.start);
    EXPECT_LE(node.start + node.value, parent.start + parent.value);
    within[static_cast<std::size_t>(node.parent)] += node.value;
  }
  if (tree.left_out == 0) {
    EXPECT_EQ(roots, tree.total);
  }
  EXPECT_LE(roots, tree.total);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) EXPECT_GE(tree.nodes[i].value, within[i]);
  // Siblings do not overlap.
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    for (std::size_t j = 0; j < i && tree.nodes.size() < 300; ++j) {
      const FlameNode &a = tree.nodes[i], &b = tree.nodes[j];
      EXPECT_TRUE(a.parent != b.parent || a.start + a.value <= b.start || b.start + b.value <= a.start);
    }
}

// A step of 2 ms in Python, with an operator of 1 ms twice, and a kernel of 5 ms.
Trace program_trace() {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(1): step");
    program.open(Kind::kModule, "nn.Module: Linear_0");
    program.run(Kind::kOperator, "aten::add", kMillisecond);
    program.spend(2 * kMillisecond);
    program.launch("cudaLaunchKernel", Kind::kKernel, "gemm", 5 * kMillisecond);
    program.run(Kind::kOperator, "aten::add", kMillisecond);
    program.close();
    program.close();
  }
  return program.build();
}

TEST(FlameTree, of_the_host_has_the_time_of_calls) {
  const Trace trace = program_trace();
  const FlameTree tree = flame_tree(trace, step_timing(trace), {});
  expect_laws(tree);
  const Stacks stacks = by_stack(trace, tree);
  const std::string main(trace.strings[trace.tracks[0].name]);
  Nanoseconds add = 0;
  for (const auto& [stack, value] : stacks)
    if (stack.ends_with("nn.Module: Linear_0;aten::add")) add += value;
  EXPECT_EQ(add, 4 * kMillisecond);
  EXPECT_EQ(stacks.at(main), tree.total);
}

TEST(FlameTree, of_a_device_has_its_work_inside_of_the_calls_that_launched_it) {
  const Trace trace = program_trace();
  const FlameTree tree = flame_tree(trace, step_timing(trace), {.weight = FlameWeight::kDeviceTime});
  expect_laws(tree);
  EXPECT_EQ(tree.total, 10 * kMillisecond);
  for (const auto& [stack, value] : by_stack(trace, tree))
    EXPECT_TRUE(!stack.ends_with("gemm") || stack.contains("train.py(1): step;nn.Module: Linear_0;cudaLaunchKernel"))
        << stack;
}

TEST(FlameTree, by_module_has_modules_and_what_is_outside_of_them) {
  const Trace trace = program_trace();
  const FlameTree host = flame_tree(trace, step_timing(trace), {.frames = FlameFrames::kModules});
  const FlameTree device =
      flame_tree(trace, step_timing(trace), {.weight = FlameWeight::kDeviceTime, .frames = FlameFrames::kModules});
  expect_laws(host);
  expect_laws(device);
  EXPECT_EQ(by_stack(trace, host).at("nn.Module: Linear_0"), 2 * (4 * kMillisecond + ProgramSketch::kLaunch));
  EXPECT_EQ(by_stack(trace, device),
            (Stacks{{"nn.Module: Linear_0", 10 * kMillisecond}, {"nn.Module: Linear_0;gemm", 10 * kMillisecond}}));
  EXPECT_EQ(host.total, flame_tree(trace, step_timing(trace), {}).total);
}

TEST(FlameTree, by_module_gives_what_runs_backward_to_the_module_of_its_forward_operator) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), backward = sketch.thread("backward"), stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kModule, "nn.Module: A", 0, 50);
  const auto forward = sketch.op(main, "aten::mm", 10, 20);
  const auto back = sketch.op(backward, "MmBackward", 60, 90);
  sketch.set_cause(back, forward);
  const auto launch = sketch.event(backward, Kind::kRuntime, "cudaLaunchKernel", 70, 75);
  sketch.work(stream, Kind::kKernel, "gemm", 80, 95, launch);
  const Trace trace = sketch.build();
  const FlameTree host = flame_tree(trace, step_timing(trace), {.frames = FlameFrames::kModules});
  EXPECT_EQ(by_stack(trace, host), (Stacks{{"nn.Module: A", 80}}));
  const FlameTree device =
      flame_tree(trace, step_timing(trace), {.weight = FlameWeight::kDeviceTime, .frames = FlameFrames::kModules});
  EXPECT_EQ(by_stack(trace, device), (Stacks{{"nn.Module: A", 15}, {"nn.Module: A;gemm", 15}}));
}

TEST(FlameTree, of_memory_has_what_calls_allocate) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::cat", 10, 50);
  sketch.op(thread, "aten::empty", 20, 30);
  sketch.allocate(thread, 25, 100, 0, 1);
  sketch.allocate(thread, 40, 7, 0, 2);
  sketch.allocate(thread, 45, -100, 0, 1);
  sketch.allocate(thread, 60, 3, 0, 3);
  sketch.op(thread, "aten::relu", 70, 80);
  const Trace trace = sketch.build();
  const FlameTree tree = flame_tree(trace, step_timing(trace), {.weight = FlameWeight::kBytes});
  expect_laws(tree);
  const std::string main(trace.strings[trace.tracks[0].name]);
  EXPECT_EQ(by_stack(trace, tree),
            (Stacks{{main, 110}, {main + ";aten::cat", 107}, {main + ";aten::cat;aten::empty", 100}}));
}

TEST(FlameTree, in_order_of_time_joins_only_neighbors) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (const auto& [name, start] : {std::pair("a", 0), {"a", 10}, {"b", 20}, {"a", 30}})
    sketch.op(thread, name, start, start + 10);
  const Trace trace = sketch.build();
  const auto names_and_values = [&](FlameOrder order) {
    std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> found;
    for (const FlameNode& node : flame_tree(trace, step_timing(trace), {.order = order}).nodes)
      if (!node.is_track) found.emplace_back(name_of(trace, node), node.start, node.value);
    return found;
  };
  using Found = decltype(names_and_values(FlameOrder::kTime));
  EXPECT_EQ(names_and_values(FlameOrder::kTime), (Found{{"a", 0, 20}, {"b", 20, 10}, {"a", 30, 10}}));
  EXPECT_EQ(names_and_values(FlameOrder::kHeavy), (Found{{"a", 0, 30}, {"b", 30, 10}}));
}

// Each nanosecond of a thread belongs to the calls that are open then.
TEST(FlameTree, agrees_with_asking_at_each_nanosecond) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](auto end) { return static_cast<Nanoseconds>(random() % static_cast<unsigned>(end)); };
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    const auto draw = [&](auto& self, Nanoseconds begin, Nanoseconds end, int depth) -> void {
      while (depth > 0 && end - begin > 4) {
        const Nanoseconds start = begin + below(4), stop = start + 1 + below(end - start);
        sketch.op(thread, std::string(1, static_cast<char>('a' + below(3))), start, stop);
        self(self, start, stop, depth - 1);
        begin = stop;
      }
    };
    // One call around all steps, and what is before, in and behind them.
    sketch.event(thread, Kind::kPython, "train.py(1): main", 0, 300);
    for (const Nanoseconds begin : {0, 50, 150, 250})
      draw(draw, begin, begin % 100 == 50 && begin < 250 ? begin + 100 : begin + 50, 4);
    for (int step = 0; step < 2; ++step)
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), 50 + 100 * step,
                   150 + 100 * step);
    const Trace trace = sketch.build();
    const StepTiming timing = step_timing(trace);
    const std::string root(trace.strings[trace.tracks[0].name]);
    for (const FlameOrder order : {FlameOrder::kHeavy, FlameOrder::kTime}) {
      Stacks expected;
      for (Nanoseconds time = timing.steps.front().host.begin; time < timing.steps.back().host.end; ++time) {
        EventId innermost = kNoEvent;
        for (EventId event = 0; event < trace.events.size(); ++event)
          if (trace.events.start[event] <= time && time < trace.events.end(event) &&
              (innermost == kNoEvent || trace.events.parent[event] == innermost))
            innermost = event;
        if (innermost == kNoEvent) continue;
        std::vector<std::string> names;
        for (EventId at = innermost; at != kNoEvent; at = trace.events.parent[at]) {
          const bool is_step = trace.name(at).starts_with("ProfilerStep#");
          if (!is_step || order == FlameOrder::kTime) names.emplace_back(trace.name(at));
        }
        std::string path = root;
        ++expected[path];
        for (auto name = names.rbegin(); name != names.rend(); ++name) ++expected[path += ';' + *name];
      }
      const FlameTree tree = flame_tree(trace, timing, {.order = order});
      expect_laws(tree);
      EXPECT_EQ(by_stack(trace, tree), expected) << seed;
    }
  }
}

TEST(FlameTree, leaves_the_lightest_out_and_says_how_many) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int i = 0; i < 100; ++i) sketch.op(thread, "op" + std::to_string(i), 1000 * i, 1000 * i + 10 + i);
  const Trace trace = sketch.build();
  for (const FlameOrder order : {FlameOrder::kHeavy, FlameOrder::kTime}) {
    const FlameTree all = flame_tree(trace, step_timing(trace), {.order = order});
    const FlameTree some = flame_tree(trace, step_timing(trace), {.order = order, .most_nodes = 21});
    expect_laws(some);
    EXPECT_EQ(all.nodes.size(), 101u);
    EXPECT_EQ(some.nodes.size(), 21u);
    EXPECT_EQ(some.left_out, 80u);
    EXPECT_EQ(some.total, all.total);
    for (const FlameNode& node : some.nodes) EXPECT_TRUE(node.is_track || node.value >= 90);
  }
}

TEST(FlameTree, of_nothing_is_empty) {
  const Trace trace = TraceSketch().build();
  for (const FlameWeight weight : {FlameWeight::kHostTime, FlameWeight::kDeviceTime, FlameWeight::kBytes}) {
    const FlameTree tree = flame_tree(trace, step_timing(trace), {.weight = weight});
    EXPECT_TRUE(tree.nodes.empty());
    EXPECT_EQ(tree.total, 0);
  }
}

}  // namespace
}  // namespace telltale
