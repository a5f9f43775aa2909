// How long it takes to replay an allocator's log and to simulate it under other settings, in processor time.
//
//     build/bin/simulator_bench [ENTRIES]
//
// The log is that of a training loop: parameters that stay, and in each step activations of many sizes that are freed
// in the reverse order with a temporary between any two.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "memory/fragmentation.h"
#include "memory/simulator/simulation.h"

namespace telltale {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Trace training(std::size_t entries) {
  constexpr std::uint64_t kBase = std::uint64_t{1} << 40;
  Trace trace;
  std::mt19937 random(1);
  std::uint64_t top = kBase;
  const auto add = [&](AllocatorAction action, std::uint64_t address, std::int64_t bytes) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = address,
                                      .bytes = bytes,
                                      .action = action});
  };
  struct Made {
    std::uint64_t address;
    std::int64_t bytes;
  };
  const auto push = [&] {
    const std::int64_t bytes = 512 + static_cast<std::int64_t>(random() % (32 << 20));
    const Made made{top, bytes};
    add(AllocatorAction::kAllocate, top, bytes);
    top += (static_cast<std::uint64_t>(bytes) + 511) / 512 * 512;
    return made;
  };
  const auto pop = [&](const Made& made) {
    add(AllocatorAction::kFreeRequested, made.address, made.bytes);
    add(AllocatorAction::kFreeCompleted, made.address, made.bytes);
    top = made.address;
  };
  add(AllocatorAction::kSegmentAllocate, kBase, std::int64_t{64} << 30);
  for (int i = 0; i < 300; ++i) push();
  while (trace.allocator_events.size() < entries) {
    std::vector<Made> step;
    for (int i = 0; i < 400; ++i) {
      step.push_back(push());
      pop(push());
    }
    for (; !step.empty(); step.pop_back()) {
      pop(push());
      pop(step.back());
    }
  }
  return trace;
}

template <typename Work>
auto timed(const char* what, Work work) {
  const double start = processor_seconds();
  auto result = work();
  std::printf("%-46s %7.3f s\n", what, processor_seconds() - start);
  return result;
}

void run(std::size_t entries) {
  const Trace trace = training(entries);
  std::printf("%zu entries\n", trace.allocator_events.size());
  timed("replay of the log", [&] {
    AllocatorWalk walk(trace, 0);
    while (walk.apply_next()) {
    }
    return walk.totals();
  });
  const AllocatorRequests requests = timed("requests out of the log", [&] { return allocator_requests(trace, 0); });
  for (const char* text : {"", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4"}) {
    SimulationOptions options{.settings = parse_allocator_settings(text).value()};
    const SimulatedRun simulated =
        timed(text[0] == '\0' ? "simulated" : text, [&] { return simulate(requests, options); });
    std::printf("    %.2f GiB reserved at most\n", static_cast<double>(simulated.peak.reserved) / (1 << 30));
  }
}

}  // namespace
}  // namespace telltale

int main(int count, char** arguments) {
  telltale::run(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000);
}
