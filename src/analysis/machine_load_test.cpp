#include "analysis/machine_load.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Three values of each counter; the mean is that of the window's.
Trace loaded(std::string_view processors, double own, double busy) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::mm", 0, 300);
  for (const Nanoseconds time : {0, 100, 200}) sketch.count("process processors", time, own);
  for (const Nanoseconds time : {0, 100, 200}) sketch.count("processors busy", time, busy);
  Trace trace = sketch.build();
  if (!processors.empty()) trace.metadata.emplace_back("processors", processors);
  return trace;
}

TEST(MachineLoad, others_have_what_the_process_has_not) {
  const auto load = machine_load(loaded("\"4\"", 1.5, 3.75), {0, 300});
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->processors, 4);
  EXPECT_EQ(load->own, 1.5);
  EXPECT_DOUBLE_EQ(load->by_others(), 2.25);
  EXPECT_TRUE(load->is_contended());
}

TEST(MachineLoad, a_machine_with_room_or_without_others_is_not_contended) {
  EXPECT_FALSE(machine_load(loaded("4", 1, 3), {0, 300})->is_contended());  // one processor is idle
  EXPECT_FALSE(machine_load(loaded("4", 3.8, 4), {0, 300})->is_contended());
  EXPECT_DOUBLE_EQ(machine_load(loaded("4", 2, 1.9), {0, 300})->by_others(), 0);  // counted at slightly other times
}

TEST(MachineLoad, nothing_is_said_without_counters_or_processors) {
  EXPECT_FALSE(machine_load(loaded("", 1, 2), {0, 300}).has_value());
  EXPECT_FALSE(machine_load(loaded("\"many\"", 1, 2), {0, 300}).has_value());
  EXPECT_FALSE(machine_load(TraceSketch().build(), {0, 300}).has_value());
}

}  // namespace
}  // namespace telltale
