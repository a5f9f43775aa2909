// Traces that are cut, crippled or made to be difficult are diagnosed as far as they go.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <regex>

#include "advise/diagnosis.h"
#include "formats/read_trace.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

constexpr std::size_t kCuts = 60;

void expect_sound(const Diagnosis& diagnosis, const Trace& trace) {
  EXPECT_FALSE(diagnosis.timing.steps.empty());
  EXPECT_GE(diagnosis.recorded_ns, 0);
  EXPECT_GE(diagnosis.unobserved_ns, 0);
  EXPECT_LE(diagnosis.unobserved_ns, diagnosis.recorded_ns);
  EXPECT_EQ(std::accumulate(diagnosis.breakdown.by_host_work.begin(), diagnosis.breakdown.by_host_work.end(),
                            diagnosis.breakdown.busy_total()),
            diagnosis.recorded_ns);
  for (const Nanoseconds part : diagnosis.breakdown.busy) EXPECT_GE(part, 0);
  for (const Nanoseconds part : diagnosis.breakdown.by_host_work) EXPECT_GE(part, 0);
  for (const Finding& finding : diagnosis.findings) {
    SCOPED_TRACE(finding.rule);
    EXPECT_LE(0, finding.saving.low);
    EXPECT_LE(finding.saving.low, finding.saving.likely);
    EXPECT_LE(finding.saving.likely, finding.saving.high);
    EXPECT_LE(finding.saving.high, std::max<Nanoseconds>(diagnosis.unobserved_ns, 1));
    for (const EventId event : finding.evidence) EXPECT_LT(event, trace.events.size());
  }
}

void expect_sound_diagnosis_of(const std::string& text) {
  const oracle::TemporaryFile file(text);
  const Result<Trace> trace = read_trace(file.path(), oracle::with_threads(1));
  if (trace) expect_sound(diagnose(*trace), *trace);  // what cannot be read is not diagnosed
}

std::string text_of_example(std::string_view name) {
  return oracle::text_of_file(std::filesystem::path(TELLTALE_SOURCE_DIR) / "examples/traces" / name);
}

TEST(OddInput, traces_made_to_be_difficult_are_diagnosed) {
  for (const std::filesystem::path& path : oracle::trap_files()) {
    SCOPED_TRACE(path.filename().string());
    const Result<Trace> trace = read_trace(path.string(), oracle::with_threads(1));
    if (trace) expect_sound(diagnose(*trace), *trace);
  }
}

TEST(OddInput, traces_cut_off_anywhere_are_diagnosed) {
  for (const std::string_view name :
       {"small_train.json.gz", "elementwise_chain.json.gz", "decode_cuda_graph.json.gz"}) {
    const std::string text = text_of_example(name);
    for (std::size_t i = 1; i <= kCuts; ++i) {
      SCOPED_TRACE(std::string(name) + " cut at " + std::to_string(i) + " of " + std::to_string(kCuts));
      expect_sound_diagnosis_of(text.substr(0, i * text.size() / kCuts));
    }
  }
}

struct Crippling {
  std::string_view what;     // is wrong
  std::string_view pattern;  // in the text of a trace
  std::string_view replacement;
};

constexpr Crippling kCripplings[] = {
    {"no event has a duration", R"("dur": [0-9.]+)", R"("dur": 0)"},
    {"every event begins at once", R"("ts": [0-9.]+)", R"("ts": 1000)"},
    {"no work knows its launch", R"("correlation":)", R"("x":)"},
    {"all work has one launch", R"("correlation": [0-9]+)", R"("correlation": 1)"},
    {"there are no steps", R"(ProfilerStep#)", R"(Step )"},
    {"there is only one step, of no number", R"(ProfilerStep#[0-9]+)", R"(ProfilerStep#)"},
    {"there are no kernels", R"("cat": "kernel")", R"("cat": "gpu_user_annotation")"},
    {"there are no calls", R"("cat": "cuda_runtime")", R"("cat": "nonsense")"},
    {"there are no operators", R"("cat": "cpu_op")", R"("cat": "user_annotation")"},
    {"all operators are kernels", R"("cat": "cpu_op")", R"("cat": "kernel")"},
    {"all Python is modules", R"("cat": "python_function", "name": ")",
     R"("cat": "python_function", "name": "nn.Module: )"},
    {"every name is that of a wait", R"("name": "[^"]*")", R"("name": "cudaStreamSynchronize")"},
    {"every name is that of a launch", R"("name": "[^"]*")", R"("name": "cudaLaunchKernel")"},
    {"every name is that of the loader", R"("name": "[^"]*")", R"("name": "enumerate(DataLoader)#x.__next__")"},
    {"every name takes a row", R"("name": "[^"]*")", R"("name": "aten::select")"},
    {"every name is empty", R"("name": "[^"]*")", R"("name": "")"},
    {"all is on one thread", R"("tid": [0-9]+)", R"("tid": 7)"},
    {"all shapes are empty", R"("Input Dims": \[)", R"("Input Dims": [[], )"},
    {"all sizes are negative", R"("Bytes": )", R"("Bytes": -)"},
    {"grids are huge", R"("grid": \[)", R"("grid": [2147483647, 2147483647, )"},
};

TEST(OddInput, crippled_traces_are_diagnosed) {
  for (const Crippling& crippling : kCripplings) {
    SCOPED_TRACE(crippling.what);
    const std::regex pattern{std::string(crippling.pattern)};
    bool has_effect = false;
    for (const std::string_view name : {"small_train.json.gz", "decode_cuda_graph.json.gz", "mlp_sync.json.gz"}) {
      const std::string text = text_of_example(name);
      const std::string crippled = std::regex_replace(text, pattern, std::string(crippling.replacement));
      has_effect = has_effect || crippled != text;
      expect_sound_diagnosis_of(crippled);
    }
    EXPECT_TRUE(has_effect);
  }
}

}  // namespace
}  // namespace telltale
