// Logs that the plainest allocator writes: the simulation must reproduce them, and under other settings agree with what
// the plainest allocator does under these.
#include "memory/simulator/simulation.h"

#include <gtest/gtest.h>

#include <random>

#include "memory/testing/plain_allocator.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct Drawn {
  enum { kAllocate, kFree, kEmptyCache } what = kAllocate;
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  std::size_t block = 0;
};

std::vector<Drawn> random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  std::vector<Drawn> program;
  std::vector<std::size_t> live;
  for (std::size_t made = 0; program.size() < 300;) {
    if (live.empty() || draw(100) < 53) {
      const std::size_t bytes = 1 + (draw(2) == 0 ? draw(2 << 20) : draw(40 << 20));
      program.push_back({Drawn::kAllocate, static_cast<std::int64_t>(bytes), draw(5) == 0 ? 1u : 0u, made});
      live.push_back(made++);
    } else if (draw(30) == 0) {
      program.push_back({Drawn::kEmptyCache});
    } else {
      const std::size_t at = draw(live.size());
      program.push_back({Drawn::kFree, 0, 0, live[at]});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return program;
}

AllocatorSettings settings(std::string_view text) { return parse_allocator_settings(text).value(); }

struct Recorded {
  Trace trace;
  std::int64_t peak_reserved = 0, peak_allocated = 0;
  std::vector<Drawn> seen;  // the program without calls of empty_cache() that found nothing to give back
};

// Runs the program on the plainest allocator, which writes down what it does.
Recorded record(const std::vector<Drawn>& program, const AllocatorSettings& how) {
  Recorded recorded;
  Trace& trace = recorded.trace;
  trace.metadata.emplace_back("allocator_settings", "{\"PYTORCH_CUDA_ALLOC_CONF\": \"" + settings_text(how) + "\"}");
  const StringId empty_cache = trace.strings.intern("torch/cuda/memory.py(170): empty_cache");
  PlainAllocator allocator(how, {.address_space = 4000 * kMiB});
  std::map<std::size_t, std::pair<std::uint64_t, std::int64_t>> live;
  for (const Drawn& each : program) {
    const auto before = allocator.mapped();
    const std::size_t entries = trace.allocator_events.size();
    const auto add = [&](AllocatorAction action, std::uint64_t address, std::int64_t bytes, StringId stack = 0) {
      trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                        .address = address,
                                        .bytes = bytes,
                                        .stream = each.stream,
                                        .call_stack = stack,
                                        .action = action});
    };
    if (each.what == Drawn::kAllocate) {
      const std::uint64_t address = allocator.allocate(each.bytes, each.stream, kEmptyString).value();
      for (const auto& [from, bytes] : allocator.mapped())
        if (!before.contains(from))
          add(how.expandable_segments ? AllocatorAction::kSegmentMap : AllocatorAction::kSegmentAllocate, from, bytes);
      add(AllocatorAction::kAllocate, address, each.bytes);
      live[each.block] = {address, each.bytes};
    } else if (each.what == Drawn::kFree) {
      const auto [address, bytes] = live.at(each.block);
      allocator.complete_free(address);
      add(AllocatorAction::kFreeRequested, address, bytes);
      add(AllocatorAction::kFreeCompleted, address, bytes);
    } else {
      allocator.empty_cache();
      const auto after = allocator.mapped();
      for (const auto& [from, bytes] : before)
        if (!after.contains(from))
          add(how.expandable_segments ? AllocatorAction::kSegmentUnmap : AllocatorAction::kSegmentFree, from, bytes,
              empty_cache);
    }
    if (trace.allocator_events.size() > entries) recorded.seen.push_back(each);
    recorded.peak_reserved = std::max(recorded.peak_reserved, allocator.totals().reserved);
    recorded.peak_allocated = std::max(recorded.peak_allocated, allocator.totals().allocated);
  }
  return recorded;
}

TEST(Simulation, reproduces_what_was_recorded_and_foretells_other_settings) {
  const std::vector<std::string> texts{"", "expandable_segments:True", "max_split_size_mb:32",
                                       "roundup_power2_divisions:4"};
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::vector<Drawn> program = random_program(seed);
    for (const std::string& was : texts) {
      const Recorded recorded = record(program, settings(was));
      const AllocatorRequests requests = allocator_requests(recorded.trace, 0);
      EXPECT_EQ(requests.skipped, 0u) << was << " seed " << seed;
      const SimulationCheck check = check_simulation(recorded.trace, requests);
      EXPECT_EQ(check.recorded_peak_reserved, recorded.peak_reserved);
      EXPECT_EQ(check.recorded_peak_allocated, recorded.peak_allocated);
      EXPECT_EQ(check.simulated_peak_reserved, recorded.peak_reserved) << was << " seed " << seed;
      EXPECT_EQ(check.simulated_peak_allocated, recorded.peak_allocated);
      EXPECT_EQ(check.largest_miss, 0) << was << " seed " << seed;
      EXPECT_TRUE(check.holds());
      for (const std::string& other : texts) {
        const Recorded expected = record(recorded.seen, settings(other));
        const SimulatedRun simulated =
            simulate(requests, {.settings = settings(other), .limits = {.address_space = 4000 * kMiB}});
        EXPECT_EQ(simulated.peak.reserved, expected.peak_reserved) << was << " → " << other << " seed " << seed;
        EXPECT_EQ(simulated.peak.allocated, expected.peak_allocated);
      }
    }
  }
}

TEST(Simulation, says_where_it_fails_first) {
  Trace trace;
  const StringId line = trace.strings.intern("model.py(7): forward");
  const std::uint64_t base = 1 << 30;
  trace.allocator_events = {
      {.address = base, .bytes = 30 << 20, .action = AllocatorAction::kSegmentAllocate},
      {.address = base, .bytes = 30 << 20, .action = AllocatorAction::kAllocate},
      {.address = 2 * base, .bytes = 50 << 20, .action = AllocatorAction::kSegmentAllocate},
      {.address = 2 * base, .bytes = 50 << 20, .call_stack = line, .action = AllocatorAction::kAllocate}};
  const AllocatorRequests requests = allocator_requests(trace, 0);
  const SimulatedRun fits = simulate(requests, {.limits = {.device = 80 * kMiB}});
  EXPECT_FALSE(fits.failure);
  EXPECT_EQ(fits.peak.reserved, 80 * kMiB);
  const SimulatedRun fails = simulate(requests, {.limits = {.device = 80 * kMiB - 1}});
  ASSERT_TRUE(fails.failure);
  EXPECT_EQ(fails.failure->entry, 3u);
  EXPECT_EQ(fails.failure->requested, 50 * kMiB);
  EXPECT_EQ(fails.failure->totals.reserved, 30 * kMiB);
  // Half of the second block: 25 MiB in 26.
  const std::vector<double> scale{1, 0.5};
  const SimulatedRun half = simulate(requests, {.limits = {.device = 80 * kMiB - 1}, .scale = scale});
  EXPECT_FALSE(half.failure);
  EXPECT_EQ(half.peak.reserved, 56 * kMiB);
}

TEST(Simulation, asks_again_for_what_there_was_no_memory_for_only_where_there_is_a_limit) {
  Trace trace;
  const std::uint64_t base = 1 << 30;
  trace.allocator_events = {{.address = base, .bytes = 30 << 20, .action = AllocatorAction::kSegmentAllocate},
                            {.address = base, .bytes = 30 << 20, .action = AllocatorAction::kAllocate},
                            {.address = 0, .bytes = 50 << 20, .action = AllocatorAction::kOutOfMemory}};
  const AllocatorRequests requests = allocator_requests(trace, 0);
  EXPECT_EQ(simulate(requests, {}).peak.reserved, 30 * kMiB);
  const SimulatedRun fails = simulate(requests, {.limits = {.device = 79 * kMiB}});
  ASSERT_TRUE(fails.failure);
  EXPECT_EQ(fails.failure->entry, 2u);
  const SimulatedRun fits = simulate(requests, {.limits = {.device = 80 * kMiB}});
  EXPECT_FALSE(fits.failure);
  EXPECT_EQ(fits.peak.reserved, 80 * kMiB);
}

TEST(Simulation, starts_from_what_was_there_and_leaves_it_where_it_was) {
  Trace trace;
  const std::uint64_t base = 1 << 30;
  trace.memory_segments = {{.address = base, .bytes = 20 << 20, .is_large = 1}};
  trace.memory_blocks = {{.address = base, .bytes = 4 << 20, .requested = 4 << 20, .state = BlockState::kAllocated},
                         {.address = base + (4 << 20), .bytes = 16 << 20}};
  trace.allocator_events = {{.address = base + (4 << 20), .bytes = 15 << 20, .action = AllocatorAction::kAllocate},
                            {.address = base, .bytes = 4 << 20, .action = AllocatorAction::kFreeRequested},
                            {.address = base, .bytes = 4 << 20, .action = AllocatorAction::kFreeCompleted}};
  const AllocatorRequests requests = allocator_requests(trace, 0);
  const SimulationCheck check = check_simulation(trace, requests);
  EXPECT_EQ(check.simulated_peak_reserved, 20 * kMiB);
  EXPECT_EQ(check.largest_miss, 0);
  // 4 + 15 MiB are two pages' worth less than one of 20 MiB.
  const SimulatedRun other = simulate(requests, {.settings = settings("expandable_segments:True")});
  EXPECT_FALSE(other.starts_as_recorded);
  EXPECT_EQ(other.peak.reserved, 20 * kMiB);
  EXPECT_EQ(other.peak.allocated, 19 * kMiB);
}

TEST(Simulation, tells_a_miss_in_words) {
  SimulationCheck check{.recorded_peak_reserved = 1000 * kMiB, .simulated_peak_reserved = 950 * kMiB};
  check.peak_miss = -0.05;
  check.unknown_settings = {"large_segment_size_mb"};
  EXPECT_EQ(sentence_of(check),
            "The simulation misses the recorded peak of 1000 MiB reserved by 5.0 % (too low): what it says of other "
            "settings is a rough guide. It knows nothing of large_segment_size_mb, under which the program ran.");
  check.peak_miss = 0;
  check.unknown_settings.clear();
  EXPECT_EQ(sentence_of(check), "The simulation reproduces the recorded peak of 1000 MiB reserved, exactly.");
}

TEST(Simulation, survives_a_log_of_nonsense) {
  std::mt19937 random(3);
  Trace trace;
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t sizes[] = {INT64_MIN, -1, 0, 1, 512, 2 << 20, std::int64_t{1} << 60, INT64_MAX};
    trace.allocator_events.push_back({.address = (random() % 40) << 20,
                                      .bytes = sizes[random() % 8],
                                      .pool = static_cast<StringId>(random() % 2),
                                      .action = kAllocatorActions[random() % 9]});
  }
  const AllocatorRequests requests = allocator_requests(trace, 0);
  check_simulation(trace, requests);
  for (const char* text : {"", "expandable_segments:True", "max_split_size_mb:32"})
    EXPECT_GE(simulate(requests, {.settings = settings(text)}).peak.reserved, 0);
}

}  // namespace
}  // namespace telltale
