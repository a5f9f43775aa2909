#include "formats/read_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace telltale {
namespace {

using namespace std::string_literals;

class ReadTraceTest : public testing::Test {
 protected:
  Result<Trace> read(const std::string& bytes, const std::string& ending = "") {
    const std::string path =
        testing::TempDir() + "/read_trace_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ending;
    std::ofstream(path, std::ios::binary) << bytes;
    Result<Trace> trace = read_trace(path);
    std::filesystem::remove(path);
    return trace;
  }

  // What is said of a file, behind its name.
  std::string refusal(const std::string& bytes, const std::string& ending = "") {
    const Result<Trace> trace = read(bytes, ending);
    return trace ? "it was read as " + trace->format : trace.error().message;
  }

  std::string format(const std::string& text) {
    const Result<Trace> trace = read(text);
    return trace ? trace->format : to_string(trace.error());
  }
};

TEST_F(ReadTraceTest, names_archives_and_compressors_and_says_how_to_unpack) {
  EXPECT_EQ(refusal("PK\3\4rest"s), "is a zip archive; unpack it and name the trace in it");
  EXPECT_EQ(refusal(std::string(257, 'x') + "ustar\0and more"s), "is a tar archive; unpack it and name a trace in it");
  EXPECT_EQ(refusal("BZh91AY&SY…"), "is compressed with bzip2; decompress it with bunzip2 first");
  EXPECT_EQ(refusal("\xFD"
                    "7zXZ\0…"s),
            "is compressed with xz; decompress it with unxz first");
  EXPECT_EQ(refusal("\x04\x22\x4D\x18…"), "is compressed with lz4; decompress it with unlz4 first");
}

TEST_F(ReadTraceTest, names_what_other_profilers_write) {
  const auto starts = [](const std::string& text, const std::string& words) { return text.starts_with(words); };
  EXPECT_PRED2(starts, refusal("SQLite format 3\0…"s), "is an SQLite database, such as Nsight Systems exports");
  EXPECT_PRED2(starts, refusal("anything", ".nsys-rep"), "is a report of Nsight Systems");
  EXPECT_PRED2(starts, refusal("PERFILE2…"), "is a recording of Linux perf");
  EXPECT_PRED2(starts, refusal("\x0a\x20\x08\x02\x12\x0a/device:TPU:0…"), "is an XPlane profile of JAX or TensorFlow");
  EXPECT_PRED2(starts, refusal("\x0a\x20\x08…", ".pftrace"), "is a Perfetto trace");
  EXPECT_PRED2(starts, refusal(R"({"rocprofiler-sdk-tool": [{"metadata": {"pid": 908}}]})"),
               "is a JSON file of rocprofv3");
  EXPECT_PRED2(starts, refusal(R"({"exporter": "x", "$schema": "https://www.speedscope.app/file-format-schema.json"})"),
               "is a speedscope profile");
  EXPECT_PRED2(starts, refusal(R"({"meta": {"interval": 1}, "libs": [], "threads": []})"),
               "is a profile of the Firefox Profiler");
  EXPECT_PRED2(starts, refusal(R"({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1}]})"),
               "is a PyTorch execution trace (Chakra)");
  EXPECT_PRED2(starts, refusal(R"({"workload_graph": [{"Id": 216}]})"), "is a PyTorch execution trace (Chakra)");
}

TEST_F(ReadTraceTest, looks_at_the_top_level_alone_for_what_a_json_file_is) {
  EXPECT_EQ(format(R"({"schema": 1, "nodes": [], "traceEvents": [{"ph": "X", "ts": 1, "dur": 1}]})"), "chrome");
  EXPECT_EQ(format(R"([{"ph": "X", "ts": 1, "args": {"rocprofiler-sdk-tool": 1}}])"), "chrome");
  EXPECT_EQ(refusal(R"({"a": {"schema": 1, "nodes": 2}, "b": "\"rocprofiler-sdk-tool\":"})"),
            "is JSON, but not a trace: it has no list of events (\"traceEvents\")");
}

TEST_F(ReadTraceTest, refuses_json_without_events) {
  EXPECT_EQ(refusal("[24,24,24]"), "is JSON, but not a trace: it is a list, and none of its elements is an event");
  EXPECT_EQ(refusal(R"([{"name": "no phase"}, null])"),
            "is JSON, but not a trace: it is a list, and none of its elements is an event");
  EXPECT_EQ(refusal("{}"), "is JSON, but not a trace: it has no list of events (\"traceEvents\")");
  EXPECT_EQ(refusal("{\"a\" 1}"), "is not a trace: its JSON goes wrong before the first event");
  EXPECT_EQ(refusal("Dear reader"),
            "is in no format that Telltale knows; it reads JSON of torch.profiler, Chrome traces, memory snapshots of "
            "torch and .tell files");
}

TEST_F(ReadTraceTest, tells_kineto_from_other_writers_of_chrome_traces) {
  const std::string other = R"({"ph": "X", "cat": "loading", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1})";
  const std::string op = R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1})";
  EXPECT_EQ(format("[" + other + "]"), "chrome");
  EXPECT_EQ(format("[]"), "chrome");
  EXPECT_EQ(format(R"({"displayTimeUnit": "ns", "traceEvents": [)" + other + "]}"), "chrome");
  EXPECT_EQ(format("[" + other + "," + op + "]"), "kineto");
  EXPECT_EQ(format(R"({"traceEvents": [], "traceName": "x"})"), "kineto");
  EXPECT_EQ(format(R"([{"ph": "i", "name": "[memory]", "ts": 1, "args": {"Addr": 1, "Bytes": 2}}])"), "kineto");
}

TEST(Readers, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const Reader& reader : readers()) EXPECT_TRUE(names.insert(reader.name).second) << reader.name;
}

}  // namespace
}  // namespace telltale
