#include "capture/run/gauge_events.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "capture/run/attachment.h"

namespace telltale::capture {
namespace {

constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000, kSecond = 1'000'000'000;

std::string after_adding(const std::string& text, const std::vector<GaugeReading>& readings) {
  const WorkFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
  std::ofstream(path) << text;
  add_gauge_events(path, 71, readings);
  std::ifstream file(path);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kHead = "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000,\n \"traceEvents\": [";

TEST(GaugeEvents, come_first_among_the_events_at_their_time) {
  const std::string events = "\n  {\"ph\": \"X\", \"ts\": 2000000.5, \"dur\": 1}]}";
  EXPECT_EQ(after_adding(kHead + events, {{kOrigin + 2 * kSecond + 1500, "GPU 0: power (W)", 512.25}}),
            kHead +
                "\n  {\"ph\": \"C\", \"name\": \"GPU 0: power (W)\", \"pid\": 71, \"tid\": \"gauges\", \"ts\": "
                "2000001.500, \"args\": {\"value\": 512.25}}," +
                events);
}

TEST(GaugeEvents, are_those_of_the_time_of_the_trace) {
  const std::string trace = kHead + "{\"ts\": 1000000}, {\"ts\":3000000}]}";
  std::vector<GaugeReading> readings;
  for (int i = 0; i < 50; ++i) readings.push_back({kOrigin + i * kSecond / 10, "CPU: energy (J)", 1.0 * i});
  const std::string text = after_adding(trace, readings);
  EXPECT_EQ(text.find("\"value\": 9}"), std::string::npos);
  EXPECT_NE(text.find("\"value\": 10}"), std::string::npos);
  EXPECT_NE(text.find("\"value\": 33}"), std::string::npos);  // 0.3 s behind the start of the last event
  EXPECT_EQ(text.find("\"value\": 34}"), std::string::npos);
}

TEST(GaugeEvents, find_their_place_in_a_file_of_many_pieces) {
  std::string events;
  for (int i = 0; i < 60'000; ++i)
    events += "{\"ph\": \"X\", \"name\": \"some operator\", \"ts\": " + std::to_string(1000 + 100 * i) + "},\n";
  const std::string tail = events + "{\"ts\": 9000000.0}]}";
  const std::string text = after_adding(kHead + tail, {{kOrigin + 9 * kSecond, "CPU: energy (J)", 5}});
  ASSERT_GT(text.size(), 2U << 20);
  EXPECT_TRUE(text.starts_with(kHead + "\n  {\"ph\": \"C\""));
  EXPECT_TRUE(text.ends_with("{\"value\": 5}}," + tail));
}

TEST(GaugeEvents, change_nothing_that_has_no_events_or_where_none_were_read) {
  const std::vector<GaugeReading> readings = {{kOrigin, "CPU: energy (J)", 5}};
  for (const std::string& text : {std::string(), std::string("[]"), std::string("not JSON"), kHead + "]}", kHead})
    EXPECT_EQ(after_adding(text, readings), text);
  const std::string trace = kHead + "{\"ts\": 0}]}";
  EXPECT_EQ(after_adding(trace, {}), trace);
}

}  // namespace
}  // namespace telltale::capture
