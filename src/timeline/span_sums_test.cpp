#include "timeline/span_sums.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace telltale {
namespace {

struct Line {
  std::vector<Interval> spans;
  std::vector<SpanSum> sums;

  std::size_t size() const { return spans.size(); }
  Nanoseconds start(std::size_t i) const { return spans[i].begin; }
  Nanoseconds duration(std::size_t i) const { return spans[i].length(); }

  void fill() {
    sums.resize(sums_over(size()));
    SpanLine(*this, std::span(sums)).fill_sums();
  }
  std::vector<DrawnSpan> draw(unsigned level, Interval window) const {
    std::vector<DrawnSpan> drawn;
    SpanLine(*this, std::span(sums)).draw(level, window, [&](const DrawnSpan& each) { drawn.push_back(each); });
    return drawn;
  }
};

// Bursts of short spans, long ones, gaps of all sizes, spans that touch, and some without a duration.
Line random_line(std::size_t count, std::mt19937_64& random) {
  const auto up_to = [&](Nanoseconds most) { return std::uniform_int_distribution<Nanoseconds>(0, most)(random); };
  Line line;
  Nanoseconds at = 0;
  while (line.size() < count) {
    const Nanoseconds scale = Nanoseconds{1} << up_to(14);
    for (Nanoseconds i = up_to(60); i >= 0 && line.size() < count; --i) {
      at += up_to(3) == 0 ? 0 : up_to(scale);
      const Nanoseconds duration = up_to(5) == 0 ? 0 : up_to(scale);
      line.spans.push_back({at, at + duration});
      at += duration;
    }
  }
  line.fill();
  return line;
}

constexpr Interval kEver{0, Nanoseconds{1} << 60};

// Each drawn span is a run of the line, in order and without one left out.
void expect_runs(const Line& line, const std::vector<DrawnSpan>& drawn, Nanoseconds bucket) {
  std::size_t next = 0;
  for (const DrawnSpan& each : drawn) {
    ASSERT_LE(next + each.count, line.size());
    double busy = 0;
    Nanoseconds longest = 0;
    for (std::size_t i = next; i < next + each.count; ++i) {
      busy += static_cast<double>(line.duration(i));
      longest = std::max(longest, line.duration(i));
      if (each.count > 1) {
        EXPECT_LT(line.duration(i), bucket) << "a long span stands alone";
      }
      if (i > next) {
        EXPECT_LT(line.start(i) - line.spans[i - 1].end, bucket) << "nothing is drawn over a wide gap";
      }
    }
    EXPECT_EQ(each.start, line.start(next));
    EXPECT_EQ(each.end, line.spans[next + each.count - 1].end);
    EXPECT_EQ(each.busy, busy);
    EXPECT_EQ(line.duration(each.longest), longest);
    EXPECT_TRUE(each.longest >= next && each.longest < next + each.count);
    next += each.count;
  }
  EXPECT_EQ(next, line.size()) << "all are drawn";
}

TEST(SpanSums, every_level_draws_all_spans_in_runs) {
  std::mt19937_64 random(17);
  for (const std::size_t count : {1, 31, 32, 33, 1023, 1024, 1025, 5000}) {
    const Line line = random_line(count, random);
    for (unsigned level = 0; level < 40; ++level) expect_runs(line, line.draw(level, kEver), Nanoseconds{1} << level);
  }
}

TEST(SpanSums, full_detail_draws_every_span_that_takes_time_alone) {
  std::mt19937_64 random(18);
  const Line line = random_line(3000, random);
  std::size_t alone = 0, expected = 0;
  for (const DrawnSpan& each : line.draw(0, kEver)) alone += each.end > each.start && each.count == 1;
  for (const Interval& span : line.spans) expected += span.length() > 0;
  EXPECT_EQ(alone, expected);
}

TEST(SpanSums, a_window_shows_what_the_whole_shows_there) {
  std::mt19937_64 random(19);
  const Line line = random_line(4000, random);
  for (unsigned level = 0; level < 24; ++level) {
    const std::vector<DrawnSpan> whole = line.draw(level, kEver);
    const Nanoseconds last = line.spans.back().end >> level;
    for (int round = 0; round < 20; ++round) {
      const Nanoseconds first = std::uniform_int_distribution<Nanoseconds>(0, last)(random);
      const Interval window{first << level, (first + 1 + static_cast<Nanoseconds>(random() % 64)) << level};
      std::vector<DrawnSpan> expected;
      for (const DrawnSpan& each : whole)
        if (each.start < window.end && (each.end > window.begin || each.start >= window.begin))
          expected.push_back(each);
      EXPECT_EQ(line.draw(level, window), expected) << "level " << level << " from " << window.begin;
    }
  }
}

TEST(SpanSums, what_is_drawn_is_bounded_by_the_buckets) {
  std::mt19937_64 random(20);
  const Line line = random_line(20'000, random);
  constexpr Nanoseconds kBuckets = 64;
  for (unsigned level = 0; level < 30; ++level)
    for (Nanoseconds tile = 0; tile << level < line.spans.back().end / kBuckets && tile < 50; ++tile) {
      const Interval window{tile * kBuckets << level, (tile + 1) * kBuckets << level};
      EXPECT_LE(line.draw(level, window).size(), 3 * kBuckets + 2);
    }
}

TEST(SpanSums, spans_that_overlap_are_drawn_together) {
  Line line;
  for (Nanoseconds i = 0; i < 1000; ++i) line.spans.push_back({i, i + 1'000'000});
  line.spans.push_back({5'000'000, 6'000'000});
  line.fill();
  const std::vector<DrawnSpan> drawn = line.draw(4, kEver);
  std::size_t count = 0;
  for (const DrawnSpan& each : drawn) count += each.count;
  EXPECT_EQ(count, line.size());
  EXPECT_LE(drawn.size(), 3U);
  EXPECT_EQ(drawn.back().end, 6'000'000);
}

TEST(SpanSums, an_empty_line_draws_nothing) { EXPECT_TRUE(Line().draw(3, kEver).empty()); }

}  // namespace
}  // namespace telltale
