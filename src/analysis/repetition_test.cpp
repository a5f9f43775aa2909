#include "analysis/repetition.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// A thread on which calls follow one another. `now` is where the next one begins.
struct Thread {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");
  Nanoseconds now = 0;

  void call(Kind kind, std::string_view name, Nanoseconds length) {
    sketch.event(main, kind, name, now, now + length);
    now += length;
  }
  void op(std::string_view name, Nanoseconds length = 10) { call(Kind::kOperator, name, length); }
  void ops(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) op(name);
  }
  // One of ten operators.
  void pass() {
    ops({"conv", "norm"});
    for (int layer = 0; layer < 3; ++layer) ops({"linear", "gelu"});
    ops({"pool", "head"});
  }
  std::vector<Interval> passes() { return repeated_passes(sketch.build()); }
};

using Passes = std::vector<Interval>;

TEST(RepeatedPasses, are_what_a_sequence_of_operators_repeats_and_not_its_layers) {
  Thread thread;
  for (int pass = 0; pass < 4; ++pass) thread.pass();
  EXPECT_EQ(thread.passes(), (Passes{{0, 100}, {100, 200}, {200, 300}, {300, 400}}));
}

// Imports take 1,000 and reading a file as long; each call of the model takes 10, 8 of them in an operator.
TEST(RepeatedPasses, may_be_shorter_than_what_prepares_them) {
  Thread thread;
  thread.call(Kind::kPython, "importlib: import_module", 1000);
  thread.op("aten::uniform_", 5);
  for (int pass = 0; pass < 4; ++pass) {
    thread.sketch.event(thread.main, Kind::kOperator, "aten::linear", thread.now + 1, thread.now + 9);
    thread.call(Kind::kModule, "nn.Module: Net_0", 10);
  }
  thread.call(Kind::kPython, "report.py(3): write", 1000);
  EXPECT_EQ(thread.passes(), (Passes{{1005, 1015}, {1015, 1025}, {1025, 1035}, {1035, 1045}}));
}

// The system took the processor away while weights were made: for longer than all passes take, each 10 with 8 in three
// operators.
Thread interrupted(int passes, Nanoseconds pause) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kOperator, "aten::uniform_", 2, pause - 2);
  thread.call(Kind::kPython, "linear.py(3): __init__", pause);
  for (int pass = 0; pass < passes; ++pass) {
    thread.sketch.event(thread.main, Kind::kOperator, "aten::linear", thread.now + 1, thread.now + 4);
    thread.sketch.event(thread.main, Kind::kOperator, "aten::relu", thread.now + 4, thread.now + 6);
    thread.sketch.event(thread.main, Kind::kOperator, "aten::linear", thread.now + 6, thread.now + 9);
    thread.call(Kind::kModule, "nn.Module: Net_0", 10);
  }
  return thread;
}

TEST(RepeatedPasses, may_take_less_than_one_operator_before_them) {
  EXPECT_EQ(interrupted(4, 100).passes(), (Passes{{100, 110}, {110, 120}, {120, 130}, {130, 140}}));
}

// 32 of 1,000 are no loop that matters.
TEST(RepeatedPasses, take_a_tenth_of_the_time_in_operators_at_least) {
  EXPECT_EQ(interrupted(4, 1000).passes(), Passes{});
}

// As samples show a script that a garbage collection interrupts.
TEST(RepeatedPasses, are_not_pieces_of_a_script) {
  Thread thread;
  for (int piece = 0; piece < 3; ++piece) {
    thread.call(Kind::kPython, "train.py(1): <module>", 100);
    thread.call(Kind::kPython, "gc.collect (generation 2)", 10);
  }
  const Nanoseconds begin = thread.now;
  for (int pass = 0; pass < 4; ++pass) thread.call(Kind::kPython, "train.py(9): answer", 500);
  thread.sketch.event(thread.main, Kind::kPython, "train.py(1): <module>", begin, thread.now);
  EXPECT_EQ(thread.passes(), (Passes{{330, 830}, {830, 1330}, {1330, 1830}, {1830, 2330}}));
}

TEST(RepeatedPasses, are_two_at_least) {
  Thread twice;
  twice.pass();
  twice.pass();
  EXPECT_EQ(twice.passes(), (Passes{{0, 100}, {100, 200}}));
  Thread once;
  once.pass();
  EXPECT_EQ(once.passes(), Passes{});
}

TEST(RepeatedPasses, are_not_the_layers_of_a_single_pass) {
  Thread thread;
  thread.ops({"embedding", "add"});
  for (int layer = 0; layer < 24; ++layer) thread.ops({"norm", "linear", "attention", "linear", "norm", "gelu"});
  thread.ops({"pool", "linear"});
  EXPECT_EQ(thread.passes(), Passes{});
}

// The last operators are those with which a layer begins.
TEST(RepeatedPasses, are_not_layers_though_the_head_looks_like_the_beginning_of_one) {
  Thread thread;
  thread.ops({"embedding", "add"});
  for (int layer = 0; layer < 24; ++layer) thread.ops({"norm", "linear", "attention", "linear", "norm", "gelu"});
  thread.ops({"norm", "linear"});
  EXPECT_EQ(thread.passes(), Passes{});
}

TEST(RepeatedPasses, may_begin_and_end_within_one) {
  Thread thread;
  thread.ops({"pool", "head"});
  for (int pass = 0; pass < 3; ++pass) thread.pass();
  thread.ops({"conv", "norm", "linear"});
  // Begins with "pool", since nobody knows that a pass begins with "conv".
  EXPECT_EQ(thread.passes(), (Passes{{0, 100}, {100, 200}, {200, 300}}));
}

TEST(RepeatedPasses, begin_behind_what_is_done_once) {
  Thread thread;
  thread.ops({"randn", "to"});
  for (int pass = 0; pass < 3; ++pass) thread.pass();
  EXPECT_EQ(thread.passes(), (Passes{{20, 120}, {120, 220}, {220, 320}}));
}

TEST(RepeatedPasses, end_before_one_that_the_recording_cuts) {
  Thread thread;
  for (int pass = 0; pass < 3; ++pass) thread.pass();
  thread.ops({"conv", "norm", "linear"});
  EXPECT_EQ(thread.passes(), (Passes{{0, 100}, {100, 200}, {200, 300}}));
}

// Texts are generated token by token; behind the tokens of each, some operators come once.
TEST(RepeatedPasses, may_end_with_one_that_is_different_as_others_before_were) {
  Thread thread;
  thread.ops({"randn", "to"});
  for (const int tokens : {9, 7, 11}) {
    for (int token = 0; token < tokens; ++token) thread.pass();
    thread.ops({"cat", "sum"});
  }
  const Passes passes = thread.passes();
  ASSERT_EQ(passes.size(), 27);
  EXPECT_EQ(passes[0], (Interval{20, 120}));
  EXPECT_EQ(passes[8], (Interval{820, 940}));
  EXPECT_EQ(passes[26], (Interval{2660, 2780}));
}

// Of a script without functions, whose Python calls were recorded as well.
TEST(RepeatedPasses, are_sequences_of_operators_though_functions_without_any_stand_among_them) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kPython, "train.py(1): <module>", 0, 1000);
  thread.call(Kind::kPython, "train.py(3): set_up", 5);
  for (int pass = 0; pass < 4; ++pass) {
    thread.pass();
    if (pass % 2 == 1) thread.call(Kind::kPython, "logging.py(9): info", 5);
  }
  thread.call(Kind::kPython, "<built-in function print>", 5);
  EXPECT_EQ(thread.passes(), (Passes{{5, 105}, {105, 210}, {210, 310}, {310, 410}}));
}

TEST(RepeatedPasses, go_on_until_the_next_one_begins) {
  Thread thread;
  for (int pass = 0; pass < 3; ++pass) {
    thread.pass();
    thread.call(Kind::kRuntime, "cudaDeviceSynchronize", 7);
    thread.now += 3;
  }
  EXPECT_EQ(thread.passes(), (Passes{{0, 110}, {110, 220}, {220, 320}}));
}

TEST(RepeatedPasses, may_begin_with_one_that_is_different) {
  Thread thread;
  thread.ops({"conv", "norm", "autotune", "linear", "gelu", "pool", "head"});
  for (int pass = 0; pass < 6; ++pass) thread.pass();
  const Passes passes = thread.passes();
  ASSERT_EQ(passes.size(), 7);
  EXPECT_EQ(passes[1], (Interval{70, 170}));
  EXPECT_EQ(passes[6], (Interval{570, 670}));
}

TEST(RepeatedPasses, are_not_pieces_of_a_few_operators) {
  Thread thread;
  for (int layer = 0; layer < 8; ++layer) thread.ops({"linear", "relu"});
  EXPECT_EQ(thread.passes(), Passes{});
}

TEST(RepeatedPasses, are_the_calls_of_a_loop_with_what_comes_once_in_each) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kPython, "train.py(1): main", 0, 1000);
  thread.call(Kind::kPython, "train.py(3): set_up", 50);
  for (int step = 0; step < 3; ++step) {
    thread.call(Kind::kPython, "loader.py(7): __next__", 20);
    thread.call(Kind::kModule, "nn.Module: Net_0", 100);
    thread.call(Kind::kModule, "nn.Module: Loss_0", 10);
    thread.call(Kind::kPython, "tensor.py(5): backward", 150);
    thread.now += 20;
  }
  EXPECT_EQ(thread.passes(), (Passes{{50, 350}, {350, 650}, {650, 930}}));
}

TEST(RepeatedPasses, may_take_less_than_the_wait_for_the_device_behind_them) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kPython, "bench.py(1): main", 0, 1000);
  for (int pass = 0; pass < 4; ++pass) thread.call(Kind::kModule, "nn.Module: Net_0", 20);
  thread.sketch.event(thread.main, Kind::kPython, "torch/cuda/__init__.py(9): synchronize", 80, 1000);
  thread.sketch.event(thread.main, Kind::kRuntime, "cudaDeviceSynchronize", 90, 1000);
  EXPECT_EQ(thread.passes(), (Passes{{0, 20}, {20, 40}, {40, 60}, {60, 80}}));
}

TEST(RepeatedPasses, have_nothing_to_do_with_the_profiler) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kPython, "bench.py(1): main", 0, 200);
  thread.call(Kind::kPython, "torch/profiler/profiler.py(8): __enter__", 60);
  for (int pass = 0; pass < 4; ++pass) thread.call(Kind::kModule, "nn.Module: Net_0", 25);
  thread.call(Kind::kPython, "torch/profiler/profiler.py(9): __exit__", 40);
  EXPECT_EQ(thread.passes(), (Passes{{60, 85}, {85, 110}, {110, 135}, {135, 160}}));
}

TEST(RepeatedPasses, are_not_what_a_module_calls_inside) {
  Thread thread;
  thread.sketch.event(thread.main, Kind::kPython, "example.py(1): main", 0, 1000);
  thread.sketch.event(thread.main, Kind::kModule, "nn.Module: Transformer_0", 0, 990);
  for (int layer = 0; layer < 11; ++layer) thread.call(Kind::kPython, "torch/nn/modules/module.py(9): _call_impl", 80);
  EXPECT_EQ(thread.passes(), Passes{});
}

TEST(RepeatedPasses, are_those_of_the_call_that_comes_least_often) {
  Thread thread;
  for (int step = 0; step < 4; ++step) {
    thread.call(Kind::kModule, "nn.Module: Generator_0", 100);
    for (int batch = 0; batch < 2; ++batch) thread.call(Kind::kModule, "nn.Module: Discriminator_0", 100);
  }
  EXPECT_EQ(thread.passes(), (Passes{{0, 300}, {300, 600}, {600, 900}, {900, 1200}}));
}

TEST(RepeatedPasses, do_not_begin_with_what_is_done_now_and_then) {
  Thread thread;
  for (int step = 0; step < 12; ++step) {
    thread.call(Kind::kModule, "nn.Module: Net_0", 100);
    if (step % 4 == 3) thread.call(Kind::kPython, "train.py(30): log", 5);
  }
  EXPECT_EQ(thread.passes().size(), 12);
}

TEST(RepeatedPasses, leave_out_a_last_one_without_the_calls_that_matter) {
  Thread thread;
  for (int step = 0; step < 4; ++step) {
    thread.call(Kind::kAnnotation, "fetch", 50);
    if (step < 3) thread.call(Kind::kAnnotation, "forward", 100);
  }
  thread.now += 10;
  EXPECT_EQ(thread.passes(), (Passes{{0, 150}, {150, 300}, {300, 450}}));
}

TEST(RepeatedPasses, are_none_where_calls_cover_less_than_half_of_the_trace_or_come_twice) {
  Thread sparse;
  for (int request = 0; request < 4; ++request) {
    sparse.call(Kind::kAnnotation, "request", 100);
    sparse.now += 200;
  }
  EXPECT_EQ(sparse.passes(), Passes{});
  Thread rare;
  for (int call = 0; call < 2; ++call) rare.call(Kind::kAnnotation, "forward", 100);
  EXPECT_EQ(rare.passes(), Passes{});
}

TEST(RepeatedPasses, are_none_of_an_empty_trace) {
  EXPECT_EQ(repeated_passes(TraceSketch().build()), Passes{});
  EXPECT_EQ(repeated_passes(Trace{}), Passes{});
}

// Random passes, each repeated a random number of times, behind some operators that come once.
TEST(RepeatedPasses, are_as_many_as_were_made) {
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 200; ++round) {
    Thread thread;
    const int once = pick(0, 3), repeats = pick(2, 9), layers = pick(1, 6), length = pick(3, 8);
    for (int i = 0; i < once; ++i) thread.op("once " + std::to_string(i));
    for (int pass = 0; pass < repeats; ++pass) {
      thread.op("first");
      for (int layer = 0; layer < layers; ++layer)
        for (int i = 0; i < length; ++i) thread.op("inner " + std::to_string(i % 3));
      thread.op("last");
    }
    const Passes passes = thread.passes();
    ASSERT_EQ(passes.size(), repeats);
    ASSERT_EQ(passes.front().begin, 10 * once);
    ASSERT_EQ(passes.back(), (Interval{thread.now - (layers * length + 2) * 10, thread.now}));
  }
}

// One call of a network of `layers`, of which the first takes `first` and the others 10 each.
Thread network(int layers, Nanoseconds first) {
  Thread thread;
  const Nanoseconds length = 5 + first + 10 * (layers - 1) + 5;
  thread.sketch.event(thread.main, Kind::kPython, "example.py(1): main", 0, length);
  thread.sketch.event(thread.main, Kind::kModule, "nn.Module: Transformer_0", 0, length);
  thread.sketch.event(thread.main, Kind::kPython, "model.py(9): forward", 0, length);
  thread.call(Kind::kModule, "nn.Module: Embedding_0", 5);
  for (int layer = 0; layer < layers; ++layer)
    thread.call(Kind::kModule, "nn.Module: Block_" + std::to_string(layer), layer == 0 ? first : 10);
  thread.call(Kind::kModule, "nn.Module: Linear_90", 5);
  return thread;
}

TEST(ColdPass, has_its_layers_as_parts_behind_a_first_one_that_takes_most_of_it) {
  Thread thread = network(5, 200);
  const Trace trace = thread.sketch.build();
  EXPECT_EQ(repeated_passes(trace), Passes{});
  EXPECT_EQ(parts_of_cold_pass(trace), (Passes{{0, 205}, {205, 215}, {215, 225}, {225, 235}, {235, 245}}));
}

TEST(ColdPass, is_none_where_its_layers_take_alike) {
  EXPECT_EQ(parts_of_cold_pass(network(24, 10).sketch.build()), Passes{});
}

TEST(ColdPass, is_none_of_two_layers_or_without_modules) {
  EXPECT_EQ(parts_of_cold_pass(network(2, 200).sketch.build()), Passes{});
  Thread thread;
  for (int pass = 0; pass < 4; ++pass) thread.pass();
  EXPECT_EQ(parts_of_cold_pass(thread.sketch.build()), Passes{});
  EXPECT_EQ(parts_of_cold_pass(Trace{}), Passes{});
}

}  // namespace
}  // namespace telltale
