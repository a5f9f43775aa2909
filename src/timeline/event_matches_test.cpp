#include "timeline/event_matches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

using Match = EventMatches::Match;

// The oracle: all matches, sorted.
std::vector<EventId> sorted_matches(const Trace& trace, const std::vector<bool>& is_wanted) {
  std::vector<EventId> matches;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_wanted[trace.events.name[event]]) matches.push_back(event);
  std::ranges::stable_sort(matches, {}, [&](EventId event) { return trace.events.start[event]; });
  return matches;
}

TEST(EventMatches, goes_from_any_event_to_the_next_and_the_previous) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    TraceSketch sketch;
    for (const char* name : {"a", "b", "c", "d"})
      add_random_calls(sketch, sketch.thread(name), static_cast<int>(random() % 200), 500, random);
    const Trace trace = sketch.build();
    std::vector<bool> is_wanted(trace.strings.size());
    for (std::size_t i = 0; i < is_wanted.size(); ++i) is_wanted[i] = random() % 8 == 0;
    const std::vector<EventId> expected = sorted_matches(trace, is_wanted);
    const EventMatches matches(trace, is_wanted, 2);
    ASSERT_EQ(matches.count(), expected.size());
    if (expected.empty()) {
      EXPECT_FALSE(matches.first());
      continue;
    }
    EXPECT_EQ(matches.first(), (Match{expected.front(), 0}));
    const auto order = [&](EventId event) { return std::pair(trace.events.start[event], event); };
    for (EventId from = 0; from < trace.events.size(); ++from) {
      const auto after = std::ranges::upper_bound(expected, order(from), {}, order);
      const auto next = after == expected.end() ? expected.begin() : after;
      EXPECT_EQ(matches.next(from), (Match{*next, static_cast<std::size_t>(next - expected.begin())}));
      const auto at = std::ranges::lower_bound(expected, order(from), {}, order);
      const auto previous = (at == expected.begin() ? expected.end() : at) - 1;
      EXPECT_EQ(matches.previous(from), (Match{*previous, static_cast<std::size_t>(previous - expected.begin())}));
    }
  }
}

TEST(EventMatches, finds_nothing_in_an_empty_trace) {
  const Trace trace;
  const EventMatches matches(trace, std::vector<bool>(1, true), 4);
  EXPECT_EQ(matches.count(), 0U);
  EXPECT_FALSE(matches.first());
}

}  // namespace
}  // namespace telltale
