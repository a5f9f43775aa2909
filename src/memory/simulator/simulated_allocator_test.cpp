// Each rule against arithmetic done by hand, and long random sequences against the plainest allocator.
#include "memory/simulator/simulated_allocator.h"

#include <gtest/gtest.h>

#include <random>

#include "memory/testing/plain_allocator.h"

namespace telltale {
namespace {

using Held = SimulatedAllocator::Held;

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;

AllocatorSettings settings(std::string_view text) {
  const Result<AllocatorSettings> parsed = parse_allocator_settings(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(AllocatorSettings{});
}

TEST(SimulatedAllocator, packs_small_requests_into_segments_of_2_mib) {
  SimulatedAllocator allocator({});
  ASSERT_TRUE(allocator.allocate(1, 0));     // 512
  ASSERT_TRUE(allocator.allocate(513, 0));   // 1024
  ASSERT_TRUE(allocator.allocate(kMiB, 0));  // the largest small one
  EXPECT_EQ(allocator.totals(), (AllocatorTotals{512 + 1024 + kMiB, 512 + 1024 + kMiB, 514 + kMiB, 2 * kMiB}));
  // 2 MiB − 1 MiB − 1536 is left: another 1 MiB needs a second segment.
  ASSERT_TRUE(allocator.allocate(kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 4 * kMiB);
}

TEST(SimulatedAllocator, takes_20_mib_for_requests_under_10_mib_and_whole_2_mib_above) {
  SimulatedAllocator allocator({});
  ASSERT_TRUE(allocator.allocate(kMiB + 1, 0));  // 1 MiB + 512, of 20 MiB
  EXPECT_EQ(allocator.totals().allocated, kMiB + 512);
  EXPECT_EQ(allocator.totals().reserved, 20 * kMiB);
  ASSERT_TRUE(allocator.allocate(9 * kMiB, 0));
  ASSERT_TRUE(allocator.allocate(9 * kMiB, 0));  // 18 MiB + 1 MiB + 512: still the same segment
  EXPECT_EQ(allocator.totals().reserved, 20 * kMiB);
  // The rest of the segment, 1 MiB − 512, was not more than 1 MiB: the last block has it too.
  EXPECT_EQ(allocator.totals().allocated, 20 * kMiB);
  ASSERT_TRUE(allocator.allocate(10 * kMiB, 0));  // a segment of its own
  EXPECT_EQ(allocator.totals().reserved, 30 * kMiB);
  ASSERT_TRUE(allocator.allocate(11 * kMiB, 0));  // 12 MiB; the rest of 1 MiB is not split off
  EXPECT_EQ(allocator.totals().reserved, 42 * kMiB);
  EXPECT_EQ(allocator.totals().allocated, 42 * kMiB);
}

TEST(SimulatedAllocator, gives_the_smallest_cached_block_that_fits) {
  SimulatedAllocator allocator({});
  const Held large = allocator.allocate(40 * kMiB, 0);
  const Held middle = allocator.allocate(30 * kMiB, 0);
  allocator.free(large);
  allocator.free(middle);
  ASSERT_TRUE(allocator.allocate(29 * kMiB, 0));  // 30 − 29 = 1 MiB is not split off
  EXPECT_EQ(allocator.totals().allocated, 30 * kMiB);
  ASSERT_TRUE(allocator.allocate(29 * kMiB, 0));  // 40 − 29 = 11 MiB is
  EXPECT_EQ(allocator.totals().allocated, 59 * kMiB);
  EXPECT_EQ(allocator.totals().reserved, 70 * kMiB);
}

TEST(SimulatedAllocator, merges_neighbors_when_they_are_free) {
  SimulatedAllocator allocator({});
  const Held a = allocator.allocate(6 * kMiB, 0), b = allocator.allocate(6 * kMiB, 0),
             c = allocator.allocate(8 * kMiB, 0);
  ASSERT_EQ(allocator.totals().reserved, 20 * kMiB);
  allocator.free(a);
  allocator.free(c);
  ASSERT_TRUE(allocator.allocate(9 * kMiB, 0));  // 6 and 8 do not touch
  EXPECT_EQ(allocator.totals().reserved, 40 * kMiB);
  allocator.free(b);
  ASSERT_TRUE(allocator.allocate(20 * kMiB, 0));  // now they are one
  EXPECT_EQ(allocator.totals().reserved, 40 * kMiB);
}

TEST(SimulatedAllocator, keeps_streams_and_private_pools_apart) {
  SimulatedAllocator allocator({});
  allocator.free(allocator.allocate(30 * kMiB, 0));
  allocator.free(allocator.allocate(30 * kMiB, 7));
  EXPECT_EQ(allocator.totals().reserved, 60 * kMiB);
  allocator.free(allocator.allocate(30 * kMiB, 0, 5));
  EXPECT_EQ(allocator.totals().reserved, 90 * kMiB);
  allocator.free(allocator.allocate(30 * kMiB, 7));
  EXPECT_EQ(allocator.totals().reserved, 90 * kMiB);
  allocator.empty_cache();  // a graph may still need its pool
  EXPECT_EQ(allocator.totals().reserved, 30 * kMiB);
  allocator.release_pool(5);
  allocator.empty_cache();
  EXPECT_EQ(allocator.totals().reserved, 0);
}

TEST(SimulatedAllocator, waits_for_other_streams_before_it_uses_a_block_again) {
  SimulatedAllocator allocator({});
  const Held block = allocator.allocate(30 * kMiB, 0);
  allocator.request_free(block);
  EXPECT_EQ(allocator.totals(), (AllocatorTotals{0, 30 * kMiB, 30 * kMiB, 30 * kMiB}));
  const Held other = allocator.allocate(30 * kMiB, 0);
  EXPECT_EQ(allocator.totals().reserved, 60 * kMiB);
  allocator.complete_free(block);
  allocator.complete_free(block);
  EXPECT_EQ(allocator.totals().active, 30 * kMiB);
  allocator.request_free(other);
  allocator.empty_cache();  // waits
  EXPECT_EQ(allocator.totals(), AllocatorTotals{});
}

TEST(SimulatedAllocator, splits_no_block_at_or_above_max_split_size) {
  SimulatedAllocator allocator(settings("max_split_size_mb:32"));
  const Held block = allocator.allocate(64 * kMiB, 0);
  allocator.free(block);
  // 16 < 32 ≤ 64: the cached block is not for it.
  ASSERT_TRUE(allocator.allocate(16 * kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 80 * kMiB);
  // 44 MiB + 20 MiB ≤ 64 MiB: too large for it by the rounding that is allowed.
  ASSERT_TRUE(allocator.allocate(44 * kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 124 * kMiB);
  // 46 MiB + 20 MiB > 64 MiB: it gets all of it.
  ASSERT_TRUE(allocator.allocate(46 * kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 124 * kMiB);
  EXPECT_EQ(allocator.totals().allocated, 124 * kMiB);
}

TEST(SimulatedAllocator, rounds_to_parts_of_powers_of_two_when_told_so) {
  const AllocatorSettings four = settings("roundup_power2_divisions:4");
  EXPECT_EQ(rounded_request(1200, four), 1536);              // 1200 ≤ 512 × 4: to 512
  EXPECT_EQ(rounded_request(5 * kKiB + 1, four), 6 * kKiB);  // 4, 5, 6, 7 KiB
  EXPECT_EQ(rounded_request(33 * kMiB, four), 40 * kMiB);    // 32, 40, 48, 56 MiB
  EXPECT_EQ(rounded_request(64 * kMiB, four), 64 * kMiB);
  const AllocatorSettings listed = settings("roundup_power2_divisions:[64:8,256:4,>:1]");
  EXPECT_EQ(rounded_request(33 * kMiB, listed), 36 * kMiB);    // eight of 4 MiB between 32 and 64
  EXPECT_EQ(rounded_request(257 * kMiB, listed), 320 * kMiB);  // four of 64 MiB between 256 and 512
  EXPECT_EQ(rounded_request(513 * kMiB, listed), 513 * kMiB);
}

TEST(SimulatedAllocator, maps_pages_of_expandable_segments_as_they_are_needed) {
  SimulatedAllocator allocator(settings("expandable_segments:True"));
  const Held a = allocator.allocate(11 * kMiB, 0);
  EXPECT_EQ(allocator.totals().reserved, 20 * kMiB);  // one page
  EXPECT_EQ(allocator.totals().allocated, 11 * kMiB);
  const Held b = allocator.allocate(30 * kMiB, 0);  // 41 MiB: two more pages
  EXPECT_EQ(allocator.totals().reserved, 60 * kMiB);
  ASSERT_TRUE(allocator.allocate(512, 0));  // small ones have pages of 2 MiB
  EXPECT_EQ(allocator.totals().reserved, 62 * kMiB);
  allocator.free(a);
  allocator.empty_cache();  // 0 to 11 is free but is no whole page, 41 to 60 neither
  EXPECT_EQ(allocator.totals().reserved, 62 * kMiB);
  allocator.free(b);
  ASSERT_TRUE(allocator.allocate(50 * kMiB, 0));  // all of it is one free block
  EXPECT_EQ(allocator.totals().reserved, 62 * kMiB);
}

TEST(SimulatedAllocator, unmaps_free_pages_between_live_blocks) {
  SimulatedAllocator allocator(settings("expandable_segments:True"));
  ASSERT_TRUE(allocator.allocate(20 * kMiB, 0));
  const Held middle = allocator.allocate(60 * kMiB, 0);
  ASSERT_TRUE(allocator.allocate(20 * kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 100 * kMiB);
  allocator.free(middle);
  allocator.empty_cache();
  EXPECT_EQ(allocator.totals().reserved, 40 * kMiB);
  ASSERT_TRUE(allocator.allocate(50 * kMiB, 0));  // three pages, into the gap
  EXPECT_EQ(allocator.totals().reserved, 100 * kMiB);
}

TEST(SimulatedAllocator, empties_its_cache_before_it_is_out_of_memory) {
  SimulatedAllocator allocator({}, {.device = 100 * kMiB});
  const Held block = allocator.allocate(60 * kMiB, 0);
  allocator.free(block);
  ASSERT_TRUE(allocator.allocate(80 * kMiB, 0));  // 60 + 80 > 100
  EXPECT_EQ(allocator.totals().reserved, 80 * kMiB);
  EXPECT_EQ(allocator.retries(), 1);
  EXPECT_FALSE(allocator.allocate(22 * kMiB, 0));
  EXPECT_TRUE(allocator.allocate(19 * kMiB, 0));  // takes 20
  EXPECT_EQ(allocator.totals().reserved, 100 * kMiB);
}

TEST(SimulatedAllocator, cannot_give_back_segments_that_live_blocks_pin) {
  SimulatedAllocator allocator({}, {.device = 100 * kMiB});
  const Held first = allocator.allocate(2 * kMiB, 0);
  const Held rest = allocator.allocate(9 * kMiB, 0);
  allocator.free(rest);
  EXPECT_FALSE(allocator.allocate(82 * kMiB, 0));  // 18 of 20 MiB are free and cannot be used
  allocator.free(first);
  EXPECT_TRUE(allocator.allocate(82 * kMiB, 0));
}

TEST(SimulatedAllocator, collects_old_segments_above_the_threshold) {
  SimulatedAllocator allocator(settings("garbage_collection_threshold:0.5"), {.allowed = 100 * kMiB});
  const Held old = allocator.allocate(30 * kMiB, 0);
  allocator.free(old);  // after the 1st search
  const Held young = allocator.allocate(32 * kMiB, 0);
  allocator.free(young);  // after the 2nd
  // The 3rd finds nothing: 62 MiB > 50 MiB, ages 2 and 1, average 1.5; the first goes, which is enough.
  ASSERT_TRUE(allocator.allocate(34 * kMiB, 0));
  EXPECT_EQ(allocator.totals().reserved, 32 * kMiB + 34 * kMiB);
}

TEST(SimulatedAllocator, keeps_its_laws_and_agrees_with_the_plainest_allocator) {
  const std::vector<std::string> texts{"",
                                       "expandable_segments:True",
                                       "max_split_size_mb:32",
                                       "roundup_power2_divisions:4",
                                       "garbage_collection_threshold:0.6",
                                       "max_split_size_mb:24,garbage_collection_threshold:0.4",
                                       "expandable_segments:True,roundup_power2_divisions:2"};
  std::size_t failures = 0, served = 0;
  for (unsigned seed = 0; seed < 42; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::int64_t below) { return static_cast<std::int64_t>(random() % below); };
    SimulatorLimits limits{.address_space = 600 * kMiB};
    limits.segments_descend = seed % 2 == 1;
    if (seed % 3 == 1) limits.device = 300 * kMiB;
    if (seed % 3 == 2) limits.allowed = 320 * kMiB;
    const AllocatorSettings chosen = settings(texts[seed % texts.size()]);
    SimulatedAllocator allocator(chosen, limits);
    PlainAllocator plain(chosen, limits);
    struct Pair {
      Held held;
      std::uint64_t address;
      bool is_requested;
    };
    std::vector<Pair> live;
    for (int i = 0; i < 350; ++i) {
      const std::int64_t what = draw(100);
      if (what < 54) {
        const std::int64_t bytes = draw(3) == 0 ? 1 + draw(2 * kMiB) : 1 + draw(48 * kMiB);
        const auto stream = static_cast<std::uint64_t>(draw(4) == 0);
        const StringId pool = draw(12) == 0 ? 9 : kEmptyString;
        const Held held = allocator.allocate(bytes, stream, pool);
        const auto address = plain.allocate(bytes, stream, pool);
        ASSERT_EQ(static_cast<bool>(held), address.has_value()) << "seed " << seed << " at " << i;
        if (address)
          live.push_back({held, *address, false});
        else
          ++failures;
        served += address.has_value();
      } else if (what < 98 && !live.empty()) {
        const auto at = static_cast<std::size_t>(draw(static_cast<std::int64_t>(live.size())));
        Pair& chosen_one = live[at];
        if (!chosen_one.is_requested) {
          plain.request_free(chosen_one.address);
          allocator.request_free(chosen_one.held);
          chosen_one.is_requested = true;
          if (what < 60) continue;  // others use it for a while
        }
        // What the allocator waited for itself is free already, and its place may be another's.
        const auto before = allocator.totals().active;
        allocator.complete_free(chosen_one.held);
        if (allocator.totals().active != before) plain.complete_free(chosen_one.address);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (what >= 98) {
        allocator.empty_cache();
        plain.empty_cache();
      }
      const AllocatorTotals& now = allocator.totals();
      ASSERT_EQ(now, plain.totals()) << "seed " << seed << " at " << i;
      ASSERT_GE(now.reserved, now.active);
      ASSERT_GE(now.active, now.allocated);
      ASSERT_GE(now.active, now.requested);
      std::uint64_t end = 0;
      std::int64_t sum = 0;
      for (const auto& block : allocator.blocks()) {
        ASSERT_GE(block.address, end) << "blocks overlap";
        end = block.address + static_cast<std::uint64_t>(block.bytes);
        sum += block.bytes;
      }
      ASSERT_EQ(sum, now.reserved);
    }
    for (const Pair& each : live) allocator.free(each.held);
    allocator.release_pool(9);
    allocator.empty_cache();
    EXPECT_EQ(allocator.totals(), AllocatorTotals{});
    EXPECT_TRUE(allocator.blocks().empty());
  }
  EXPECT_GT(failures, 100u);
  EXPECT_GT(served, 5000u);
}

}  // namespace
}  // namespace telltale
