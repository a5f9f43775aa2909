#include "memory/inferred_steps.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/memory_leaks.h"

namespace telltale {
namespace {

// Of two stretches that are alike, so many entries have a partner of their stack in the other; so many entries at least
// lie in stretches that are like a neighbor; and so many of the log lie between the first step and the last. One in
// ten is what a step that logs, evaluates or writes a checkpoint may differ by; half leaves room for what a program
// does before it trains.
constexpr double kLeastAlike = 0.9, kLeastInAlike = 0.9, kLeastOfLog = 0.5;
// How many counts are tried, those of most stacks first.
constexpr std::size_t kMostTries = 8;

struct Allocation {
  Nanoseconds time = 0;
  StringId stack = kEmptyString;
  std::int64_t allocated_before = 0;
};

std::vector<Allocation> allocations_of(const Trace& trace, DeviceId device) {
  std::vector<Allocation> found;
  std::unordered_map<std::uint64_t, std::int64_t> live;
  std::int64_t allocated = 0;
  for (const AllocatorEvent& event : trace.allocator_events) {
    if (event.device != device) continue;
    if (event.action == AllocatorAction::kAllocate) {
      found.push_back({event.time, event.call_stack, allocated});
      allocated += event.bytes;
      live[event.address] = event.bytes;
    } else if (event.action == AllocatorAction::kFreeRequested || event.action == AllocatorAction::kFreeCompleted) {
      const auto block = live.find(event.address);
      if (block == live.end()) continue;
      allocated -= block->second;
      live.erase(block);
    }
  }
  return found;
}

using Places = std::vector<std::size_t>;  // of allocations

// How often each stack occurs in a stretch.
std::map<StringId, std::size_t> stacks_in(const std::vector<Allocation>& all, std::size_t from, std::size_t to) {
  std::map<StringId, std::size_t> counts;
  for (std::size_t i = from; i < to; ++i) ++counts[all[i].stack];
  return counts;
}

bool are_alike(const std::map<StringId, std::size_t>& a, const std::map<StringId, std::size_t>& b,
               std::size_t entries) {
  std::size_t paired = 0;
  for (const auto& [stack, count] : a)
    if (const auto other = b.find(stack); other != b.end()) paired += std::min(count, other->second);
  return 2.0 * static_cast<double>(paired) >= kLeastAlike * static_cast<double>(entries);
}

bool is_period(const std::vector<Allocation>& all, const Places& starts) {
  const std::size_t within = starts.back() - starts.front();
  if (static_cast<double>(within) < kLeastOfLog * static_cast<double>(all.size())) return false;
  std::vector<bool> is_like_another(starts.size() - 1);
  auto before = stacks_in(all, starts[0], starts[1]);
  for (std::size_t i = 1; i + 1 < starts.size(); ++i) {
    auto now = stacks_in(all, starts[i], starts[i + 1]);
    if (are_alike(before, now, starts[i + 1] - starts[i - 1])) is_like_another[i - 1] = is_like_another[i] = true;
    before = std::move(now);
  }
  std::size_t in_alike = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    if (is_like_another[i]) in_alike += starts[i + 1] - starts[i];
  return static_cast<double>(in_alike) >= kLeastInAlike * static_cast<double>(within);
}

double allocated_before(const std::vector<Allocation>& all, const Places& places) {
  double sum = 0;
  for (const std::size_t place : places) sum += static_cast<double>(all[place].allocated_before);
  return sum / static_cast<double>(places.size());
}

StepTiming timing_of(const std::vector<Allocation>& all, const Places& starts) {
  StepTiming timing;
  timing.source = StepSource::kPattern;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    // What is allocated as the next one begins belongs to that.
    const Interval span{all[starts[i]].time, all[starts[i + 1]].time - 1};
    timing.steps.push_back({.index = static_cast<std::int64_t>(i), .host = span});
  }
  return timing;
}

}  // namespace

std::optional<StepTiming> inferred_steps(const Trace& trace, DeviceId device) {
  const std::vector<Allocation> all = allocations_of(trace, device);
  std::map<StringId, Places> by_stack;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].stack != kEmptyString) by_stack[all[i].stack].push_back(i);
  std::map<std::size_t, std::vector<const Places*>> by_count;
  for (const auto& [stack, places] : by_stack)
    if (places.size() > kLeastStepsOfLeak) by_count[places.size()].push_back(&places);

  std::vector<std::pair<std::size_t, std::size_t>> tries;  // how many stacks, and their count
  for (const auto& [count, stacks] : by_count) tries.emplace_back(stacks.size(), count);
  std::ranges::stable_sort(tries, std::greater{}, [](const auto& each) { return each.first; });
  if (tries.size() > kMostTries) tries.resize(kMostTries);
  for (const auto& [stacks, count] : tries) {
    const Places& starts = **std::ranges::min_element(
        by_count[count], {}, [&](const Places* places) { return allocated_before(all, *places); });
    if (is_period(all, starts)) return timing_of(all, starts);
  }
  return std::nullopt;
}

}  // namespace telltale
