#include "formats/collapsed/stack_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace telltale::collapsed {
namespace {

// Every name has three bytes, every track two: "tt;nnn;nnn" of depth 2 has 10 bytes.
StackTree::TextSizes sizes() {
  return {.of_call = [](StringId) { return std::size_t{3}; }, .of_track = [](TrackId) { return std::size_t{2}; }};
}

std::uint64_t depth_of(const StackTree& tree, StackNode node) {
  std::uint64_t depth = 0;
  for (; node != kNoNode; node = tree[node].outer) ++depth;
  return depth;
}

std::uint64_t text_of(const StackTree& tree, const std::vector<TimedStack>& stacks) {
  std::uint64_t bytes = 0;
  for (const TimedStack& each : stacks) bytes += 2 + 4 * depth_of(tree, each.stack.innermost);
  return bytes;
}

TEST(StackTree, keeps_all_stacks_that_fit) {
  StackTree tree;
  const StackNode f = tree.inside(kNoNode, 1), g = tree.inside(f, 2);
  tree.add_time({0, f}, 5);
  tree.add_time({0, g}, 7);
  tree.add_time({1, g}, 9);
  tree.add_time({0, g}, 1);
  const auto all = tree.stacks(6 + 10 + 10, sizes());
  ASSERT_EQ(all.stacks.size(), 3u);
  EXPECT_EQ(all.stacks[1].stack, (Stack{0, g}));
  EXPECT_EQ(all.stacks[1].time, 8);
  EXPECT_EQ(all.stacks[2].time, 9);
  EXPECT_EQ(all.shortened, 0u);
}

TEST(StackTree, lets_deep_stacks_end_where_the_text_would_be_too_long) {
  StackTree tree;
  StackNode node = kNoNode;
  for (StringId depth = 1; depth <= 100'000; ++depth) {
    node = tree.inside(node, depth);
    tree.add_time({0, node}, 1);
  }
  // Ten stacks of 1 to 10 calls: 10 * 2 + 4 * 55 bytes.
  const auto cut = tree.stacks(240 + 10, sizes());
  ASSERT_EQ(cut.stacks.size(), 10u);
  EXPECT_EQ(cut.stacks.front().time, 1);
  EXPECT_EQ(cut.stacks.back().time, 100'000 - 9);
  EXPECT_EQ(cut.shortened, 100'000u - 10);
}

TEST(StackTree, loses_no_time_and_is_as_deep_as_possible) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    StackTree tree;
    std::vector<StackNode> nodes = {kNoNode};
    std::map<TrackId, Nanoseconds> time_of_track;
    for (int i = 0; i < 60; ++i) {
      nodes.push_back(tree.inside(nodes[random() % nodes.size()], static_cast<StringId>(random() % 3)));
      const auto track = static_cast<TrackId>(random() % 2);
      const auto time = static_cast<Nanoseconds>(random() % 4);
      tree.add_time({track, nodes.back()}, time);
      time_of_track[track] += time;
    }
    const auto all = tree.stacks(UINT64_MAX, sizes());
    EXPECT_EQ(all.shortened, 0u);
    const std::uint64_t budget = random() % text_of(tree, all.stacks) + 4;
    const auto cut = tree.stacks(budget, sizes());
    EXPECT_LE(text_of(tree, cut.stacks), budget);

    std::uint64_t deepest = 0;
    for (const TimedStack& each : cut.stacks) {
      time_of_track[each.stack.track] -= each.time;
      deepest = std::max(deepest, depth_of(tree, each.stack.innermost));
    }
    for (const auto& [track, time] : time_of_track) EXPECT_EQ(time, 0);

    // One level more is too much: all stacks, ended there by hand.
    std::map<std::pair<TrackId, StackNode>, int> deeper;
    for (const TimedStack& each : all.stacks) {
      StackNode node = each.stack.innermost;
      while (depth_of(tree, node) > deepest + 1) node = tree[node].outer;
      deeper[{each.stack.track, node}] = 1;
    }
    std::uint64_t text = 0;
    for (const auto& [stack, one] : deeper) text += 2 + 4 * depth_of(tree, stack.second);
    if (cut.shortened > 0) {
      EXPECT_GT(text, budget);
    }
  }
}

}  // namespace
}  // namespace telltale::collapsed
