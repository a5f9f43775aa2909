#include "timeline/event_facts.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

using Facts = std::vector<EventFact>;

TEST(EventFacts, tell_how_a_kernel_was_launched) {
  TraceSketch sketch;
  const auto kernel = sketch.event(sketch.stream(0, 7), Kind::kKernel, "k", 0, 10);
  sketch.set_launch(kernel, {.grid = {128, 2, 1},
                             .block = {256, 1, 1},
                             .registers_per_thread = 40,
                             .shared_memory_bytes = 4096,
                             .occupancy_percent = 75,
                             .blocks_per_multiprocessor = 1.5F});
  const Trace trace = sketch.build();
  EXPECT_EQ(event_facts(trace, sketch.id(kernel)), (Facts{{"grid", "128 × 2 × 1"},
                                                          {"block", "256 × 1 × 1"},
                                                          {"registers per thread", "40"},
                                                          {"shared memory", "4.00 KiB"},
                                                          {"occupancy", "75 %"},
                                                          {"blocks per multiprocessor", "1.50"}}));
}

TEST(EventFacts, tell_arguments_of_operators) {
  TraceSketch sketch;
  const auto op = sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  sketch.set_inputs(op, "[[16,1000],[]]", R"(["","2"])");
  sketch.set_call_stack(op, "train.py(1): step");
  const Trace trace = sketch.build();
  EXPECT_EQ(event_facts(trace, sketch.id(op)),
            (Facts{{"input shapes", "[[16,1000],[]]"}, {"input values", R"(["","2"])"}}));
}

TEST(EventFacts, tell_what_is_copied_from_where) {
  TraceSketch sketch;
  const auto copy = sketch.event(sketch.stream(0, 7), Kind::kMemcpy, "Memcpy HtoD", 0, 10);
  sketch.set_copy(copy, {.bytes = 2048, .from = MemorySpace::kPinned, .to = MemorySpace::kDevice});
  const Trace trace = sketch.build();
  EXPECT_EQ(event_facts(trace, sketch.id(copy)),
            (Facts{{"bytes", "2.00 KiB"}, {"source", "pinned"}, {"destination", "device"}}));
}

TEST(EventFacts, take_other_arguments_apart) {
  TraceSketch sketch;
  const auto event = sketch.event(sketch.thread("main"), Kind::kOther, "request", 0, 10);
  Trace trace = sketch.build();
  const auto text = trace.strings.intern(
      R"({"user":"a \"b\" {,}:","sizes":[1,{"x":2}],"empty":{},"n":-3.5,"key, with: signs":null})");
  trace.other_arguments.append(sketch.id(event), text);
  EXPECT_EQ(event_facts(trace, sketch.id(event)), (Facts{{"user", "a \"b\" {,}:"},
                                                         {"sizes", R"([1,{"x":2}])"},
                                                         {"empty", "{}"},
                                                         {"n", "-3.5"},
                                                         {"key, with: signs", "null"}}));
}

TEST(EventFacts, are_never_endless) {
  TraceSketch sketch;
  const auto event = sketch.event(sketch.thread("main"), Kind::kOther, "request", 0, 10);
  Trace trace = sketch.build();
  std::string many = "{\"long\":\"" + std::string(1'000'000, 'x') + "\"";
  for (int i = 0; i < 1000; ++i) many += ",\"a" + std::to_string(i) + "\":1";
  trace.other_arguments.append(sketch.id(event), trace.strings.intern(many + "}"));
  const Facts facts = event_facts(trace, sketch.id(event));
  EXPECT_LT(facts.size(), 100U);
  EXPECT_LT(facts[0].value.size(), 3000U);
}

TEST(EventFacts, an_event_without_any_has_none) {
  TraceSketch sketch;
  const auto event = sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  const Trace trace = sketch.build();
  EXPECT_TRUE(event_facts(trace, sketch.id(event)).empty());
}

}  // namespace
}  // namespace telltale
