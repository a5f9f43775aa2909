// The tables against `telltale top`, sorted, filtered and cut in the simplest way.
#include "answers/view_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/testing/program_sketch.h"
#include "answers/testing/view_of.h"
#include "answers/top.h"
#include "answers/view_colors.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

// Steps of three operators, whose kernels take 1, 2 and 3 ms, called from a module and a line.
Trace program_trace() {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(3): step");
    program.open(Kind::kModule, "nn.Module: Linear_0");
    for (int i = 1; i <= 3; ++i)
      program.kernel({.op = i == 2   ? "aten::Two"
                            : i == 1 ? "aten::one"
                                     : "aten::three",
                      .name = i == 2 ? "gemm" : "softmax_kernel",
                      .duration = i * kMillisecond,
                      .shapes = i == 3 ? "[[7, 8]]" : "[[2, 2]]"});
    program.close();
    program.close();
  }
  Trace trace = program.build();
  trace.recorded.modules = true;
  return trace;
}

json asked(const View& view, const TableRequest& request) {
  const auto answer = table(view, request);
  return answer ? json::parse(answer->json()) : json(answer.error().message);
}

// The cells of a column, by row.
json column_of(const json& page, const std::string& id) {
  const auto& columns = page["columns"];
  const auto at = std::ranges::find_if(columns, [&](const json& column) { return column["id"] == id; });
  json cells = json::array();
  if (at == columns.end()) return nullptr;
  for (const json& row : page["rows"]) cells.push_back(row["cells"][static_cast<std::size_t>(at - columns.begin())]);
  return cells;
}

TEST(Table, has_the_numbers_of_top) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"operators", "operator"}, {"kernels", "kernel"}, {"annotations", "annotation"}, {"python", "python"}};
  for (const auto& [rows, by] : words) {
    for (const std::string group : {"name", "shape", "stack"}) {
      for (const StepsText& steps : {StepsText(), StepsText("2..3")}) {
        const json page = asked(*view_of(program_trace()), {.rows = rows, .group = group, .steps = steps});
        const json rest = json::parse(
            top({.source = source_of(program_trace()), .by = by, .group = group, .steps = steps})->json())["rows"];
        ASSERT_EQ(page["all"], rest.size()) << rows;
        for (const char* member : {"calls", "self_cpu_ns", "cpu_ns", "cpu_once_ns", "self_device_ns", "device_ns"}) {
          const json cells = column_of(page, member);
          for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(cells.is_null() ? json() : cells[i], rest[i][member]);
        }
      }
    }
  }
}

TEST(Table, is_sorted_by_any_column_either_way) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const json first = asked(*view, {});
  EXPECT_EQ(column_of(first, "self_device_ns"), json({12 * kMillisecond, 8 * kMillisecond, 4 * kMillisecond}));
  for (const json& column : first["columns"]) {
    for (const std::string order : {"falling", "rising"}) {
      const json cells = column_of(asked(*view, {.sort = column["id"], .order = order}), column["id"]);
      json sorted = cells;
      std::sort(sorted.begin(), sorted.end());
      if (order == "falling") std::reverse(sorted.begin(), sorted.end());
      EXPECT_EQ(cells, sorted) << column << order;
    }
  }
  EXPECT_EQ(column_of(asked(*view, {.sort = "name"}), "name"), json({"aten::Two", "aten::one", "aten::three"}));
}

TEST(Table, has_what_is_absent_behind_all_else) {
  FullTable table;
  table.columns.push_back({"a", "A", CellUnit::kCount, "", Wholes{3, std::nullopt, 5, 3, std::nullopt}});
  table.example.resize(5, kNoEvent);
  EXPECT_EQ(sorted_rows(table, 0, true), (RowOrder{2, 0, 3, 1, 4}));
  EXPECT_EQ(sorted_rows(table, 0, false), (RowOrder{0, 3, 2, 1, 4}));
}

TEST(Table, is_filtered_by_name_shapes_and_stack_whatever_the_case) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const auto names = [&](const TableRequest& request) { return column_of(asked(*view, request), "name"); };
  EXPECT_EQ(names({.filter = "TWO"}), json({"aten::Two"}));
  EXPECT_EQ(names({.filter = "aten"}).size(), 3u);
  EXPECT_EQ(names({.group = "shape", .filter = "7, 8"}), json({"aten::three"}));
  EXPECT_EQ(names({.group = "stack", .filter = "TRAIN.py"}).size(), 3u);
  EXPECT_EQ(names({.filter = "train.py"}).size(), 0u);
  const json none = asked(*view, {.filter = "nothing"});
  EXPECT_EQ(none["total"], 0);
  EXPECT_EQ(none["all"], 3);
}

TEST(Table, comes_in_pages) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const json all = asked(*view, {})["rows"];
  for (std::int64_t offset = 0; offset < 5; ++offset) {
    for (std::int64_t limit = 1; limit < 5; ++limit) {
      const json page = asked(*view, {.offset = offset, .limit = limit});
      json expected = json::array();
      for (std::int64_t i = offset; i < std::min<std::int64_t>(offset + limit, 3); ++i)
        expected.push_back(all[static_cast<std::size_t>(i)]);
      EXPECT_EQ(page["rows"], expected);
      EXPECT_EQ(page["total"], 3);
    }
  }
}

TEST(Table, leads_to_the_calls_of_a_row) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  for (const char* rows : {"operators", "kernels", "python"}) {
    const json page = asked(*view, {.rows = rows});
    for (const json& row : page["rows"])
      EXPECT_EQ(view->trace->name(row["example"].get<EventId>()), row["search"].get<std::string>());
  }
  const json steps = asked(*view, {.rows = "annotations"})["rows"][0];
  EXPECT_EQ(steps["cells"][0], "ProfilerStep*");
  EXPECT_TRUE(steps["search"].is_null());
  const json kernels = asked(*view, {.rows = "kernels", .sort = "name"})["rows"];
  EXPECT_EQ(kernels[0]["color"], color_index(WorkClass::kMatmul));
  EXPECT_EQ(kernels[1]["color"], color_index(WorkClass::kReduction));
}

TEST(Table, speaks_of_devices_where_they_are_no_gpus) {
  Trace trace = program_trace();
  trace.devices = {{.id = 0, .name = "NPU"}};
  const std::shared_ptr<const View> view = view_of(std::move(trace));
  for (const char* rows : {"operators", "kernels", "modules", "lines"}) {
    std::string titles;
    const json page = asked(*view, {.rows = rows});
    for (const json& column : page["columns"])
      titles += column["title"].get<std::string>() + column["text"].get<std::string>() + '\n';
    EXPECT_EQ(titles.find("GPU"), std::string::npos) << titles;
    EXPECT_NE(titles.find("evice"), std::string::npos) << titles;
  }
  EXPECT_NE(asked(*view_of(program_trace()), {})["columns"].dump().find("Self GPU"), std::string::npos);
}

TEST(Table, of_modules_and_lines_is_about_a_step) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const json modules = asked(*view, {.rows = "modules"});
  EXPECT_EQ(column_of(modules, "path"), json({"Linear_0"}));
  EXPECT_EQ(column_of(modules, "self_device_ns"), json({6 * kMillisecond}));
  EXPECT_EQ(modules["rows"][0]["search"], "nn.Module: Linear_0");
  const json lines = asked(*view, {.rows = "lines"});
  EXPECT_EQ(column_of(lines, "line"), json({"train.py:3"}));
  EXPECT_EQ(column_of(lines, "device_ns"), json({6 * kMillisecond}));
  EXPECT_EQ(column_of(lines, "host_ns"), json({3 * ProgramSketch::kLaunch}));
}

TEST(Table, has_no_columns_of_devices_where_nothing_runs_on_one) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(3): step");
    program.open(Kind::kModule, "nn.Module: Linear_0");
    program.run(Kind::kOperator, "aten::linear", 2 * kMillisecond);
    program.close();
    program.close();
  }
  Trace trace = program.build();
  trace.recorded.modules = true;
  const std::shared_ptr<const View> view = view_of(std::move(trace));
  for (const char* rows : {"modules", "lines"}) {
    const json page = asked(*view, {.rows = rows});
    EXPECT_EQ(page["total"], 1) << page;
    EXPECT_EQ(page.dump().find("device"), std::string::npos) << page;
  }
  EXPECT_EQ(column_of(asked(*view, {.rows = "lines"}), "host_ns"), json({2 * kMillisecond}));
}

TEST(Table, says_over_what_its_numbers_are_and_calls_are_over_the_same) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  for (const char* rows : {"modules", "lines"}) {
    const json page = asked(*view, {.rows = rows});
    EXPECT_EQ(page["mean_of"], 4) << rows;
    EXPECT_EQ(column_of(page, "calls"), json({1})) << rows;
  }
  const json sums = asked(*view, {.rows = "operators"});
  EXPECT_EQ(sums["mean_of"], 0);
  EXPECT_EQ(column_of(sums, "calls"), json({4, 4, 4}));
}

TEST(Table, says_how_it_is_sorted) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const json unasked = asked(*view, {});
  EXPECT_EQ(unasked["sort"], "self_device_ns");
  EXPECT_EQ(unasked["order"], "falling");
  const json by_name = asked(*view, {.sort = "name"});
  EXPECT_EQ(by_name["sort"], "name");
  EXPECT_EQ(by_name["order"], "rising");
}

TEST(Table, is_written_as_csv_with_all_rows_that_pass) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  const std::string text = table(*view, {.rows = "kernels", .filter = "gemm", .limit = 1})->csv();
  EXPECT_EQ(text,
            "name,calls,self_device_ns,self_device_percent,device_ns,device_average_ns\r\n"
            "gemm,4,8000000,33.333,8000000,2000000\r\n");
}

TEST(Table, says_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = view_of(program_trace());
  EXPECT_EQ(asked(*view, {.rows = "operator"}), "rows cannot be 'operator'; did you mean 'operators'?");
  EXPECT_EQ(asked(*view, {.group = "shapes"}), "group cannot be 'shapes'; did you mean 'shape'?");
  EXPECT_EQ(asked(*view, {.sort = "cals"}), "sort cannot be 'cals'; did you mean 'calls'?");
  EXPECT_EQ(asked(*view, {.order = "up"}), "order cannot be 'up'; choose falling or rising");
  EXPECT_EQ(asked(*view, {.limit = 0}), "limit must be from 1 to 1000, not 0");
  EXPECT_EQ(asked(*view, {.offset = -1}), "offset must be 0 or more, not -1");
  EXPECT_EQ(asked(*view, {.steps = "9"}), "no step matches steps=9 (the trace has 1 to 4)");
}

TEST(Table, of_a_trace_without_events_has_no_rows) {
  for (const char* rows : {"operators", "kernels", "annotations", "python", "modules", "lines"}) {
    const json page = asked(*view_of(TraceSketch().build()), {.rows = rows});
    EXPECT_EQ(page["total"], 0) << rows;
    EXPECT_FALSE(page["columns"].empty()) << rows;
  }
}

TEST(Table, cuts_names_that_nobody_reads) {
  TraceSketch sketch;
  sketch.op(sketch.thread("main"), std::string(1'000'000, 'x'), 0, 10);
  const json page = asked(*view_of(sketch.build()), {});
  EXPECT_LT(page["rows"][0]["cells"][0].get<std::string>().size(), 1000u);
  EXPECT_TRUE(page["rows"][0]["search"].is_null());
}

}  // namespace
}  // namespace telltale::answers
