#include "answers/view_flame.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "analysis/testing/program_sketch.h"
#include "analysis/testing/trace_sketch.h"
#include "answers/testing/view_of.h"
#include "answers/view_colors.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

Trace program_trace() {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(1): step");
    program.kernel("aten::mm", 5 * kMillisecond);
    program.close();
  }
  return program.build();
}

json asked(const View& view, const FlameRequest& request) {
  const auto answer = flame(view, request);
  return answer ? json::parse(answer->json()) : json(answer.error().message);
}

TEST(Flame, has_a_column_for_each_member) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const json page = asked(*view, {.weight = "device", .steps = "2..3"});
  EXPECT_EQ(page["unit"], "ns");
  EXPECT_EQ(page["total"], 10 * kMillisecond);
  EXPECT_EQ(page["left_out"], 0);
  const std::size_t nodes = page["name"].size();
  for (const char* column : {"parent", "value", "start", "color", "example"}) EXPECT_EQ(page[column].size(), nodes);
  bool has_kernel = false;
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string name = page["names"][page["name"][i].get<std::size_t>()];
    EXPECT_TRUE(page["parent"][i] != -1 || page["example"][i].is_null());
    if (name != "kernel") continue;
    has_kernel = true;
    EXPECT_EQ(page["value"][i], 10 * kMillisecond);
    EXPECT_EQ(view->trace->name(page["example"][i].get<EventId>()), "kernel");
    EXPECT_EQ(page["color"][i], color_index(WorkClass::kMatmul));
  }
  EXPECT_TRUE(has_kernel) << page;
}

// Steps of 1 ms; the recorder pauses for four of 2 ms between the third and the fourth. The second thread is told of
// first, so that texts have other numbers where the pauses are taken out.
Trace paused_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(sketch.thread("second"), "aside", 0, kMillisecond / 2);
  Nanoseconds time = 0;
  for (int step = 0; step < 6; ++step) {
    for (int paused = 0; step == 3 && paused < 4; ++paused, time += 2 * kMillisecond)
      sketch.event(thread, Kind::kAnnotation, "UnrecordedStep", time, time + 2 * kMillisecond);
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), time, time + kMillisecond);
    sketch.op(thread, fmt::format("op {}", step), time, time + kMillisecond);
    time += kMillisecond;
  }
  return sketch.build();
}

TEST(Flame, names_events_as_the_trace_does_where_the_recorder_paused) {
  const std::shared_ptr<const View> view = view_of(paused_trace());
  const json page = asked(*view, {.weight = "host", .by = "stack", .steps = "4..5"});
  std::size_t compared = 0;
  for (std::size_t i = 0; i < page["name"].size(); ++i) {
    if (page["example"][i].is_null()) continue;
    const std::string name = page["names"][page["name"][i].get<std::size_t>()];
    EXPECT_EQ(name, view->trace->name(page["example"][i].get<EventId>()));
    ++compared;
  }
  EXPECT_GE(compared, 2U) << page;
}

TEST(Flame, is_answered_in_all_ways) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  for (const char* weight : {"host", "device", "memory"})
    for (const char* by : {"stack", "module"})
      for (const char* order : {"heavy", "time"}) {
        const json page = asked(*view, {.weight = weight, .by = by, .order = order});
        EXPECT_EQ(page["unit"], std::string(weight) == "memory" ? "bytes" : "ns");
      }
}

TEST(Flame, says_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  EXPECT_EQ(asked(*view, {.weight = "devices"}), "weight cannot be 'devices'; did you mean 'device'?");
  EXPECT_EQ(asked(*view, {.by = "x"}), "by cannot be 'x'; choose stack or module");
  EXPECT_EQ(asked(*view, {.order = "x"}), "order cannot be 'x'; choose heavy or time");
  EXPECT_EQ(asked(*view, {.steps = "9"}), "no step matches steps=9 (the trace has 1 to 4)");
}

// Of bytes that come and go, and of those that stand there at the peak.
TEST(Flame, of_the_peak_has_what_stands_there_by_stack_and_by_module) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "train.py(7): step", 0, 1000);
  sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", 5, 400);
  sketch.op(thread, "aten::mm", 10, 300);
  sketch.op(thread, "aten::add", 500, 600);
  sketch.allocate(thread, 20, 100, 0, 1);
  sketch.allocate(thread, 30, 40, 0, 2);
  sketch.allocate(thread, 40, -40, 0, 2);
  sketch.allocate(thread, 510, 60, 0, 3);
  const std::shared_ptr<const View> view = view_of(sketch.build());
  const json by_stack = asked(*view, {.weight = "peak"});
  EXPECT_EQ(by_stack["unit"], "bytes");
  EXPECT_EQ(by_stack["total"], 160);
  std::map<std::string, int> bytes;
  for (std::size_t i = 0; i < by_stack["name"].size(); ++i)
    bytes[by_stack["names"][by_stack["name"][i].get<std::size_t>()]] = by_stack["value"][i];
  EXPECT_EQ(bytes,
            (std::map<std::string, int>{
                {"train.py(7): step", 160}, {"nn.Module: Linear_0", 100}, {"aten::mm", 100}, {"aten::add", 60}}));
  const json by_module = asked(*view, {.weight = "peak", .by = "module"});
  EXPECT_EQ(by_module["total"], 160);
  EXPECT_EQ(by_module["names"], json({"Linear_0", "outside of modules"}));
  EXPECT_EQ(by_module["value"], json({100, 60}));
  EXPECT_EQ(asked(*view_of(program_trace()), {.weight = "peak"})["total"], 0);
}

}  // namespace
}  // namespace telltale::answers
