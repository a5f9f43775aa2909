// A file cut at any byte gives every event that was complete before the cut, and says that it was cut.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare_traces.h"
#include "compression.h"
#include "formats/read_trace.h"
#include "slow_reader.h"
#include "traces_on_disk.h"

namespace telltale::oracle {
namespace {

constexpr std::size_t kCuts = 200;

// Where the events of a whole text stand, found by taking the valid document apart.
struct EventPlaces {
  explicit EventPlaces(const std::string& text) {
    for (const JsonMember& member : members_of(trimmed(text))) {
      if (member.key != "traceEvents") continue;
      list_begin = offset_in(text, member.raw) + 1;
      list_end = offset_in(text, member.raw) + member.raw.size();
      for (const std::string_view element : elements_of(member.raw)) {
        const auto event = nlohmann::json::parse(element);
        const std::string phase = event.at("ph");
        const bool is_memory = phase == "i" && event.at("name") == "[memory]";
        const std::size_t end = offset_in(text, element) + element.size();
        ends.push_back(end);
        if (phase == "X" || (phase == "i" && !is_memory)) row_ends.push_back(end);
        if (is_memory) memory_ends.push_back(end);
      }
    }
  }

  static std::size_t offset_in(const std::string& text, std::string_view part) {
    return static_cast<std::size_t>(part.data() - text.data());
  }
  static std::size_t count_before(const std::vector<std::size_t>& ends, std::size_t cut) {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends, cut) - ends.begin());
  }

  std::size_t list_begin = 0, list_end = 0;
  std::vector<std::size_t> ends, row_ends, memory_ends;
};

class Cuts : public testing::Test {
 protected:
  Cuts() : text_(text_of_file(std::filesystem::path(TELLTALE_SOURCE_DIR) / "examples/traces/small_train.json.gz")) {}

  static void expect_complete_events(const EventPlaces& places, std::size_t cut, const Result<Trace>& result) {
    if (cut < places.list_begin) {
      EXPECT_FALSE(result) << "nothing says that this is a trace, cut at " << cut;
      return;
    }
    ASSERT_TRUE(result) << to_string(result.error()) << ", cut at " << cut;
    EXPECT_EQ(result->events.size(), EventPlaces::count_before(places.row_ends, cut)) << "cut at " << cut;
    EXPECT_EQ(result->memory.size(), EventPlaces::count_before(places.memory_ends, cut)) << "cut at " << cut;
    EXPECT_EQ(result->anomalies.count(Anomaly::kTruncated), 1u) << "cut at " << cut;
    EXPECT_EQ(result->anomalies.count(Anomaly::kMalformedEvent), 0u) << "cut at " << cut;
  }

  // Steps that share no factor with the lengths of lines, so that cuts fall on all kinds of places.
  std::size_t cut_of(std::size_t i, std::size_t size) const { return i * size / kCuts + i * 7919 % (size / kCuts); }

  std::string text_;
};

TEST_F(Cuts, plain_text_gives_every_complete_event_before_the_cut) {
  const EventPlaces places(text_);
  for (std::size_t i = 0; i < kCuts; ++i) {
    const std::size_t cut = cut_of(i, text_.size());
    const TemporaryFile file(text_.substr(0, cut));
    expect_complete_events(places, cut, read_trace(file.path(), with_threads(i % 3 ? 1 : 3, i % 2 ? 5000 : 1 << 20)));
  }
}

TEST_F(Cuts, every_byte_of_an_event_is_a_place_to_cut) {
  const EventPlaces places(text_);
  const std::size_t begin = places.ends[3] - 2, end = places.ends[5] + 2;
  for (std::size_t cut = begin; cut < end; ++cut) {
    const TemporaryFile file(text_.substr(0, cut));
    expect_complete_events(places, cut, read_trace(file.path(), with_threads(1)));
  }
}

TEST_F(Cuts, what_is_left_is_read_as_if_the_file_had_ended_there_in_good_order) {
  const EventPlaces places(text_);
  for (std::size_t i = 3; i < kCuts; i += 14) {
    const std::size_t cut = cut_of(i, text_.size());
    const std::size_t complete = places.ends.at(EventPlaces::count_before(places.ends, cut) - 1);
    auto slow = slow_read(text_.substr(0, complete) + "]}");
    ASSERT_TRUE(slow);
    slow->trace.text_bytes = cut;
    slow->trace.anomalies.add(Anomaly::kTruncated, cut);
    const TemporaryFile file(text_.substr(0, cut));
    const auto fast = read_trace(file.path(), with_threads(3, 20000));
    ASSERT_TRUE(fast) << to_string(fast.error());
    const std::string found = difference(slow->trace, *fast, "slow", "fast");
    ASSERT_TRUE(found.empty()) << "cut at " << cut << "\n" << found;
  }
}

TEST_F(Cuts, gzip_gives_every_complete_event_of_the_text_before_the_cut) {
  const EventPlaces places(text_);
  const std::string bytes = gzipped(text_);
  for (std::size_t i = 1; i < kCuts; ++i) {
    const std::string kept = bytes.substr(0, cut_of(i, bytes.size()));
    const TemporaryFile file(kept, ".json.gz");
    expect_complete_events(places, text_before_gzip_cut(kept).size(),
                           read_trace(file.path(), with_threads(i % 2 ? 1 : 2)));
  }
}

TEST_F(Cuts, zstd_gives_every_complete_event_of_the_text_before_the_cut) {
  const EventPlaces places(text_);
  const std::string bytes = zstd_compressed(text_);
  for (std::size_t i = 1; i < kCuts; i += 5) {
    const std::string kept = bytes.substr(0, cut_of(i, bytes.size()));
    const TemporaryFile file(kept, ".json.zst");
    expect_complete_events(places, text_before_zstd_cut(kept).size(),
                           read_trace(file.path(), with_threads(i % 2 ? 1 : 2)));
  }
}

}  // namespace
}  // namespace telltale::oracle
