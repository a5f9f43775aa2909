// Every sentence with which this room refuses a request, as a user meets it. Read them aloud when you change one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "analysis/testing/trace_sketch.h"
#include "answers/analyze.h"
#include "answers/convert.h"
#include "answers/explain.h"
#include "answers/info.h"
#include "answers/row_words.h"
#include "answers/top.h"
#include "answers/what_if.h"

namespace telltale::answers {
namespace {

// A trace that has these steps.
Source source_with(const std::vector<int>& steps) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::mm", 0, 500);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto start = static_cast<Nanoseconds>(i + 1) * 1000;
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", steps[i]), start, start + 900);
    sketch.op(thread, "aten::item", start + 10, start + 800);
  }
  Source source;
  source.path = "train.json";
  source.trace = std::make_shared<const Trace>(sketch.build());
  return source;
}

// A trace that has this many steps, from number 1 on.
Source source_with_steps(int steps) {
  std::vector<int> numbers(static_cast<std::size_t>(steps));
  std::iota(numbers.begin(), numbers.end(), 1);
  return source_with(numbers);
}

template <typename Answer>
std::string text_of(const Result<Answer>& result) {
  return result ? "no error" : to_string(result.error());
}

struct Asked {
  int steps = 2;
  Spelling spelling = Spelling::kFlags;
};

std::string top_error(const std::function<void(TopRequest&)>& change, Asked asked = {}) {
  TopRequest request{.source = source_with_steps(asked.steps), .spelling = asked.spelling};
  change(request);
  return text_of(top(request));
}

std::string analyze_error(const std::function<void(AnalyzeRequest&)>& change, Asked asked = {}) {
  AnalyzeRequest request{.source = source_with_steps(asked.steps), .spelling = asked.spelling};
  change(request);
  return text_of(analyze(request));
}

std::string what_if_error(const std::function<void(WhatIfRequest&)>& change, Asked asked = {}) {
  WhatIfRequest request{.source = source_with_steps(asked.steps), .spelling = asked.spelling};
  change(request);
  return text_of(what_if(request));
}

std::string convert_error(const std::function<void(ConvertRequest&)>& change, Asked asked = {}) {
  ConvertRequest request{
      .source = source_with_steps(asked.steps), .spelling = asked.spelling, .output = "/nowhere/a.csv"};
  change(request);
  return text_of(convert(request));
}

constexpr Asked kPython{2, Spelling::kKeywords};

TEST(ErrorTexts, of_choices_of_steps) {
  const auto seven = [](auto& request) { request.steps = "7..9"; };
  EXPECT_EQ(top_error(seven, {0}),
            "train.json: no step matches --steps 7..9: the trace marks no steps, and nothing in it repeats");
  EXPECT_EQ(top_error(seven, {1}), "train.json: no step matches --steps 7..9 (the trace has only step 1)");
  EXPECT_EQ(top_error(seven, {2}), "train.json: no step matches --steps 7..9 (the trace has 1 to 2)");
  const auto numbered = [](std::vector<int> numbers) {
    TopRequest request{.source = source_with(numbers)};
    request.steps = "100..";
    return text_of(top(request));
  };
  EXPECT_EQ(numbered({0, 1, 2, 60}), "train.json: no step matches --steps 100.. (the trace has 0 to 2 and 60)");
  EXPECT_EQ(numbered({1, 3, 4, 6, 8, 9}),
            "train.json: no step matches --steps 100.. (the trace has 1, 3 to 4, 6 and 8 to 9)");
  EXPECT_EQ(numbered({1, 3, 5, 7, 9, 10}),
            "train.json: no step matches --steps 100.. (the trace has 1, 3, 5, … and 9 to 10)");
  EXPECT_EQ(top_error(seven, kPython), "train.json: no step matches steps=7..9 (the trace has 1 to 2)");
  EXPECT_EQ(analyze_error(seven), "train.json: no step matches --steps 7..9 (the trace has 1 to 2)");
  EXPECT_EQ(convert_error(seven), "train.json: no step matches --steps 7..9 (the trace has 1 to 2)");
  EXPECT_EQ(what_if_error([](WhatIfRequest& request) { request.steps = "7", request.no_sync = true; }),
            "train.json: no step matches --steps 7 (the trace has 1 to 2)");
  const auto nonsense = [](auto& request) { request.steps = "3-7"; };
  EXPECT_EQ(analyze_error(nonsense), "--steps 3-7 is not a range of steps; write 5, 3..7, 3.. or ..7");
  EXPECT_EQ(top_error(nonsense, kPython), "steps=3-7 is not a range of steps; write 5, 3..7, 3.. or ..7");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.steps = ""; }),
            "--steps '' is not a range of steps; write 5, 3..7, 3.. or ..7");
}

TEST(ErrorTexts, of_top) {
  EXPECT_EQ(top_error([](TopRequest& request) { request.by = "kernels"; }),
            "--by cannot be 'kernels'; did you mean 'kernel'?");
  EXPECT_EQ(top_error([](TopRequest& request) { request.by = "color"; }),
            "--by cannot be 'color'; choose operator, kernel, module, annotation, python or all");
  EXPECT_EQ(top_error([](TopRequest& request) { request.by = "color"; }, kPython),
            "by cannot be 'color'; choose operator, kernel, module, annotation, python or all");
  EXPECT_EQ(top_error([](TopRequest& request) { request.group = "color"; }),
            "--group cannot be 'color'; choose name, shape or stack");
  EXPECT_EQ(top_error([](TopRequest& request) { request.sort = "speed"; }),
            "--sort cannot be 'speed'; choose self-cpu, cpu, cpu-once, self-device, device, calls, cpu-memory, "
            "self-cpu-memory, device-memory, self-device-memory, flops, cpu-avg, device-avg or name");
  EXPECT_EQ(top_error([](TopRequest& request) { request.sort = "devise"; }),
            "--sort cannot be 'devise'; did you mean 'device'?");
  EXPECT_EQ(top_error([](TopRequest& request) { request.limit = -1; }), "--limit must be 0 or more, not -1");
  EXPECT_EQ(top_error([](TopRequest& request) { request.stack_depth = 0; }, kPython),
            "stack_depth must be 1 or more, not 0");
  EXPECT_EQ(top_error([](TopRequest& request) { request.stack_depth = 201; }, kPython),
            "stack_depth must be 200 or less, not 201");
  EXPECT_EQ(top_error([](TopRequest& request) { request.by = "kernel", request.kinds = {"memcpy"}; }, kPython),
            "give by or kinds, not both");
  EXPECT_EQ(top_error([](TopRequest& request) { request.kinds = {"kernal"}; }, kPython),
            "there is no kind 'kernal'; did you mean 'kernel'?");
}

TEST(ErrorTexts, of_analyze_and_explain) {
  EXPECT_EQ(analyze_error([](AnalyzeRequest& request) { request.min_saving = 101; }),
            "--min-saving must be a percentage from 0 to 100, not 101");
  EXPECT_EQ(analyze_error([](AnalyzeRequest& request) { request.min_saving = -0.5; }, kPython),
            "min_saving must be a percentage from 0 to 100, not -0.5");
  EXPECT_EQ(analyze_error([](AnalyzeRequest& request) { request.rules = {"host_snyc"}; }),
            "there is no rule 'host_snyc'; did you mean 'host_sync'?");
  EXPECT_EQ(text_of(explain({"host_snyc"})), "there is no rule 'host_snyc'; did you mean 'host_sync'?");
  const std::string all = text_of(explain({"frobnicate"}));
  EXPECT_TRUE(all.starts_with("there is no rule 'frobnicate'; choose ")) << all;
  EXPECT_NE(all.find("host_sync, "), std::string::npos) << all;
}

TEST(ErrorTexts, of_pages) {
  const std::string file = std::filesystem::path(testing::TempDir()) / "error_texts_notes.html";
  std::ofstream(file) << "notes";
  EXPECT_EQ(analyze_error([&](AnalyzeRequest& request) { request.page = file; }),
            file + ": already exists and is not a report of telltale; choose another name for --html, or remove it");
  EXPECT_EQ(analyze_error([&](AnalyzeRequest& request) { request.page = request.source.path = file; }),
            file + ": the page would overwrite the trace; choose another name for --html");
  std::filesystem::remove(file);
  EXPECT_EQ(analyze_error([&](AnalyzeRequest& request) { request.page = "/nowhere/page.html"; }),
            "/nowhere/page.html: cannot be written: its folder does not exist");
}

TEST(ErrorTexts, of_what_if) {
  const auto remove = [](const char* pattern, Asked asked = {}) {
    return what_if_error([pattern](WhatIfRequest& request) { request.remove = {pattern}; }, asked);
  };
  const auto scale = [](const char* text, Asked asked = {}) {
    return what_if_error([text](WhatIfRequest& request) { request.scale = {text}; }, asked);
  };
  EXPECT_EQ(what_if_error([](WhatIfRequest&) {}),
            "say what to change: --remove, --scale, --no-sync, --instant-data, --graph or --no-observer");
  EXPECT_EQ(what_if_error([](WhatIfRequest&) {}, kPython),
            "say what to change: remove, scale, no_sync, instant_data, graph or no_observer");
  EXPECT_EQ(remove(""), "--remove '' has no name to match; * matches all");
  EXPECT_EQ(remove("kernel:", kPython), "remove='kernel:' has no name to match; * matches all");
  EXPECT_EQ(
      remove("sync:*"),
      "--remove 'sync:*' matches no time to change: events of kind sync take none of their own; choose operator, "
      "annotation, python, module, runtime, driver, kernel, memcpy, memset, collective, device, overhead or other");
  EXPECT_EQ(scale("aten::mm"), "--scale 'aten::mm' is not PATTERN=FACTOR with a factor from 0 to 10,000");
  EXPECT_EQ(scale("aten::mm=nan", kPython),
            "scale='aten::mm=nan' is not PATTERN=FACTOR with a factor from 0 to 10,000");
  EXPECT_EQ(scale("aten::mm=1e300"), "--scale 'aten::mm=1e300' is not PATTERN=FACTOR with a factor from 0 to 10,000");
  EXPECT_EQ(what_if_error([](WhatIfRequest& request) { request.scale = {"*=1000", "aten::*=0.5", "aten::mm=11"}; }),
            "the factors of --scale multiply to more than 10,000");
  EXPECT_EQ(remove("aten::itm"), "train.json: nothing in the steps matches 'aten::itm'; did you mean 'aten::item'?");
  EXPECT_EQ(remove("item"),
            "train.json: nothing in the steps matches 'item'; a name must match in full, and * stands for any text");
  EXPECT_EQ(remove("kernels:*"), "train.json: nothing in the steps matches 'kernels:*'; did you mean 'kernel'?");
  EXPECT_EQ(remove("*gemm*"), "train.json: nothing in the steps matches '*gemm*'");
}

TEST(ErrorTexts, of_convert) {
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.format = "pdf"; }),
            "there is no format 'pdf'; choose tell, kineto, perfetto, collapsed, speedscope, memory_snapshot or csv");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.output = "-"; }),
            "standard output: say what to write there with --format: tell, kineto, perfetto, collapsed, speedscope, "
            "memory_snapshot or csv");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.output = "a.xyz"; }, kPython),
            "a.xyz: its ending names no format; use .tell, .json, .pftrace, .perfetto-trace, .folded, .collapsed, "
            ".speedscope.json, .pickle or .csv, or give format");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.from = "5"; }),
            "--from 5 is not a time; write 1.5s, 200ms, 300us or 50ns");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.from = "2ms", request.to = "2ms"; }),
            "--to must be later than --from");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.from = "1s"; }),
            "train.json: nothing happens after --from: the trace lasts 2.90 µs");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.from = "1s", request.to = "2s"; }),
            "train.json: nothing happens between --from and --to: the trace lasts 2.90 µs");
  EXPECT_EQ(convert_error([](ConvertRequest& request) { request.steps = "2", request.to = "600ns"; }),
            "train.json: no step matches --steps 2 before --to");
  EXPECT_EQ(convert_error([](ConvertRequest&) {}), "/nowhere/a.csv: cannot be written: its folder does not exist");
}

TEST(ErrorTexts, of_files_that_are_in_the_way) {
  const std::string file = std::filesystem::path(testing::TempDir()) / "error_texts.csv";
  std::ofstream(file) << "mine";
  EXPECT_EQ(convert_error([&](ConvertRequest& request) { request.output = file; }),
            file + ": already exists; --force overwrites it");
  EXPECT_EQ(convert_error([&](ConvertRequest& request) { request.output = file; }, kPython),
            file + ": already exists; overwrite=True overwrites it");
  EXPECT_EQ(convert_error([&](ConvertRequest& request) { request.output = request.source.path = file; }),
            file + ": the trace would be overwritten; choose another name for -o");
  std::filesystem::remove(file);
}

TEST(ErrorTexts, of_files_that_are_not_there) {
  Source source;
  source.path = "/nowhere/train.json";
  EXPECT_EQ(text_of(info({source})), "/nowhere/train.json: there is no such file");
  EXPECT_EQ(text_of(load(source)), "/nowhere/train.json: there is no such file");
}

TEST(ErrorTexts, come_before_a_file_is_read) {
  const auto no_file = [](auto& request) { request.source = {"/nowhere/train.json", {}, {}, {}}; };
  EXPECT_EQ(top_error([&](TopRequest& request) { no_file(request), request.limit = -1; }),
            "--limit must be 0 or more, not -1");
  EXPECT_EQ(analyze_error([&](AnalyzeRequest& request) { no_file(request), request.steps = "x"; }),
            "--steps x is not a range of steps; write 5, 3..7, 3.. or ..7");
  EXPECT_EQ(what_if_error([&](WhatIfRequest& request) { no_file(request), request.remove = {""}; }),
            "--remove '' has no name to match; * matches all");
  EXPECT_EQ(convert_error([&](ConvertRequest& request) { no_file(request), request.output = "a.xyz"; }).substr(0, 7),
            "a.xyz: ");
}

}  // namespace
}  // namespace telltale::answers
