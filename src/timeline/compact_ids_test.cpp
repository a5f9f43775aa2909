#include "timeline/compact_ids.h"

#include <gtest/gtest.h>

#include <random>

namespace telltale {
namespace {

TEST(CompactIds, give_back_what_was_put_in) {
  std::mt19937 random(8);
  const auto below = [&](std::uint32_t limit) { return static_cast<EventId>(random() % limit); };
  const std::vector<std::uint32_t> sizes = {0, 1, 15, 16, 17, 5000, 3};
  std::vector<std::vector<EventId>> expected(sizes.size());
  CompactIds ids(sizes);
  for (std::size_t list = 0; list < sizes.size(); ++list) {
    EventId next = below(100);
    for (std::uint32_t i = 0; i < sizes[list]; ++i) {
      ids.push_back(list, next);
      expected[list].push_back(next);
      next += 1 + below(below(30) == 0 ? 200'000 : 10);  // now and then far
    }
  }
  for (std::size_t list = 0; list < sizes.size(); ++list) {
    ASSERT_EQ(ids[list].size(), expected[list].size());
    EXPECT_EQ(ids[list].empty(), expected[list].empty());
    for (std::size_t i = 0; i < expected[list].size(); ++i) EXPECT_EQ(ids[list][i], expected[list][i]);
    for (int round = 0; round < 200; ++round) {
      const EventId wanted = expected[list].empty() ? 7 : expected[list][below(sizes[list])] + below(3) - 1;
      const auto found = std::ranges::lower_bound(expected[list], wanted) - expected[list].begin();
      EXPECT_EQ(ids[list].first_from([&](EventId id) { return id < wanted; }), static_cast<std::size_t>(found));
    }
  }
}

TEST(CompactIds, tell_ids_at_the_edge_of_far_apart) {
  for (const EventId distance : {65534u, 65535u, 65536u, 4'000'000'000u}) {
    const std::vector<std::uint32_t> sizes = {2};
    CompactIds ids(sizes);
    ids.push_back(0, 5);
    ids.push_back(0, 5 + distance);
    EXPECT_EQ(ids[0][0], 5u);
    EXPECT_EQ(ids[0][1], 5 + distance);
  }
}

TEST(CompactIds, take_little_more_than_half_the_room) {
  const std::vector<std::uint32_t> sizes = {100'000};
  CompactIds ids(sizes);
  for (EventId id = 0; id < 100'000; ++id) ids.push_back(0, id * 7);
  EXPECT_LE(ids.memory_bytes(), 100'000u * 23 / 10);
}

}  // namespace
}  // namespace telltale
