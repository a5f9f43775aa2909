#include "trace/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace telltale {
namespace {

struct Timeline {
  Events events;
  Track track;
};

struct Span {
  Nanoseconds start, duration;
};

// One track with these events, put into the order of the Trace.
Timeline timeline(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  Timeline made;
  for (const Span& span : spans) {
    made.events.start.push_back(span.start);
    made.events.duration.push_back(span.duration);
  }
  made.events.parent.assign(spans.size(), kNoEvent);
  made.track.event_count = static_cast<EventId>(spans.size());
  return made;
}

Timeline random_timeline(std::mt19937& random) {
  std::vector<Span> spans(random() % 40);
  for (Span& span : spans) span = {static_cast<int>(random() % 30), static_cast<int>(random() % 12)};
  return timeline(spans);
}

bool contains(const Events& events, EventId outer, EventId inner) {
  return events.start[outer] <= events.start[inner] && events.end(inner) <= events.end(outer);
}

TEST(Nest, finds_the_last_event_that_contains_each_one) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    Timeline made = random_timeline(random);
    nest(made.events, made.track);
    for (EventId id = 0; id < made.track.event_count; ++id) {
      EventId expected = kNoEvent;
      for (EventId outer = 0; outer < id; ++outer)
        if (contains(made.events, outer, id)) expected = outer;
      ASSERT_EQ(made.events.parent[id], expected);
    }
  }
}

TEST(Nest, tells_whether_events_overlap_in_part) {
  std::mt19937 random(6);
  for (int round = 0; round < 2000; ++round) {
    Timeline made = random_timeline(random);
    bool expected = false;
    for (EventId a = 0; a < made.track.event_count; ++a)
      for (EventId b = a + 1; b < made.track.event_count; ++b)
        expected |= made.events.end(a) > made.events.start[b] && made.events.end(a) < made.events.end(b);
    ASSERT_EQ(nest(made.events, made.track), expected);
  }
}

TEST(OpenRows, finds_the_last_event_open_at_a_time_whatever_the_hint) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    Timeline made = random_timeline(random);
    nest(made.events, made.track);
    const OpenRows rows(made.events);
    EventId hint = 0;
    for (int query = 0; query < 40; ++query) {
      const Nanoseconds time = static_cast<int>(random() % 45) - 1;
      EventId expected = kNoEvent;
      for (EventId id = 0; id < made.track.event_count; ++id)
        if (made.events.start[id] <= time && time <= made.events.end(id)) expected = id;
      ASSERT_EQ(rows.innermost_at(made.track, time, hint), expected);
    }
  }
}

TEST(LanesOf, puts_no_two_partly_overlapping_events_on_one_lane) {
  std::mt19937 random(8);
  for (int round = 0; round < 1000; ++round) {
    const Timeline made = random_timeline(random);
    bool has_too_many = false;
    const auto lanes = lanes_of(made.events, made.track, has_too_many);
    ASSERT_FALSE(has_too_many);
    for (EventId a = 0; a < made.track.event_count; ++a) {
      for (EventId b = a + 1; b < made.track.event_count; ++b) {
        const bool overlap = made.events.end(a) > made.events.start[b] && made.events.end(a) < made.events.end(b);
        ASSERT_FALSE(overlap && lanes[a] == lanes[b]);
      }
    }
  }
}

TEST(LanesOf, leaves_nested_events_on_the_first_lane) {
  const Timeline made = timeline({{0, 10}, {1, 8}, {2, 3}, {5, 4}, {10, 2}});
  bool has_too_many = false;
  EXPECT_EQ(lanes_of(made.events, made.track, has_too_many), std::vector<std::uint8_t>(5, 0));
}

TEST(LanesOf, says_when_it_runs_out_of_lanes) {
  std::vector<Span> spans;
  for (int i = 0; i < 300; ++i) spans.push_back({i, 1000});
  bool has_too_many = false;
  lanes_of(timeline(spans).events, timeline(spans).track, has_too_many);
  EXPECT_TRUE(has_too_many);
}

}  // namespace
}  // namespace telltale
