// Cutting a trace, and reading a file from which the events outside the window were taken out by hand, give the same.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "round_trip.h"
#include "trace/slice.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

using Json = nlohmann::ordered_json;

Nanoseconds nanoseconds(const Json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

bool has_time(const Json& event) {
  return std::string("XiC").find(event["ph"].get<std::string>()) != std::string::npos;
}

Nanoseconds first_time(const Json& events) {
  Nanoseconds first = INT64_MAX;
  for (const Json& event : events)
    if (has_time(event)) first = std::min(first, nanoseconds(event["ts"]));
  return first;
}

// Names of places stay, and so do arrows: those that lead nowhere now say nothing.
bool stays(const Json& event, Interval window) {
  if (!has_time(event)) return true;
  const Nanoseconds start = nanoseconds(event["ts"]);
  const Nanoseconds end = event.contains("dur") ? start + nanoseconds(event["dur"]) : start;
  if (start == end) return window.begin <= start && start < window.end;
  return start < window.end && end > window.begin;
}

// `window` is counted from the first event.
std::string cut_by_hand(const Json& document, Interval window) {
  Json part = document;
  const Nanoseconds first = first_time(document["traceEvents"]);
  part["traceEvents"] = Json::array();
  for (const Json& event : document["traceEvents"])
    if (stays(event, {window.begin + first, window.end + first})) part["traceEvents"].push_back(event);
  return part.dump();
}

// With Python and modules, with a CUDA graph, with autograd and memory.
std::vector<std::filesystem::path> traces() {
  std::vector<std::filesystem::path> paths;
  for (const char* name : {"small_train", "decode_cuda_graph", "resnet50_train"})
    paths.push_back(std::filesystem::path(TELLTALE_SOURCE_DIR) / "examples/traces" / (std::string(name) + ".json.gz"));
  return paths;
}

TEST(SliceOracle, parts_of_real_traces_are_those_of_files_cut_by_hand) {
  for (const std::filesystem::path& path : traces()) {
    // Written by us, the events of a track stand together, so that what is first does not change with what is left.
    const std::string text = as_json(trace_of_text(oracle::text_of_file(path))).text;
    const Trace whole = trace_of_text(text);
    const Json document = Json::parse(text);
    for (const auto& [from, to] : {std::pair{0, 100}, {30, 60}, {47, 48}, {90, 100}}) {
      SCOPED_TRACE(path.filename().string() + " from " + std::to_string(from) + " % to " + std::to_string(to) + " %");
      const Interval window{whole.duration * from / 100, whole.duration * to / 100};
      Trace part = slice(whole, selection_of(whole, window));
      Trace expected = trace_of_text(cut_by_hand(document, window));
      EXPECT_GT(expected.events.size(), 0u);
      expected.recorded = whole.recorded;  // a part knows what was recorded, also where nothing of it is left
      EXPECT_EQ(difference_of_content(expected, part), "");
    }
  }
}

TEST(SliceOracle, parts_of_real_traces_are_written_and_read_back_as_they_are) {
  for (const std::filesystem::path& path : oracle::bundled_traces()) {
    SCOPED_TRACE(path.filename().string());
    const Trace whole = trace_of_text(oracle::text_of_file(path));
    const Interval window{whole.duration / 3, whole.duration / 2};
    Trace part = slice(whole, selection_of(whole, window));
    Trace after = trace_of_text(as_json(part).text);
    EXPECT_EQ(difference_of_content(part, after), "");
  }
}

}  // namespace
}  // namespace telltale
