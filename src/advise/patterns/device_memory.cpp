#include "advise/patterns/device_memory.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace telltale {
namespace {

constexpr auto kAllocations =
    std::to_array<std::string_view>({"cudaMalloc", "cuMemCreate", "cuMemAlloc", "hipMalloc", "hipMemCreate"});
constexpr auto kFrees =
    std::to_array<std::string_view>({"cudaFree", "cuMemRelease", "cuMemFree", "hipFree", "hipMemRelease"});

// Memory of the host is another matter, and stream-ordered allocation is meant to be called all the time.
bool is_call_of(std::span<const std::string_view> prefixes, std::string_view name) {
  if (name.find("Host") != std::string_view::npos || name.find("Async") != std::string_view::npos) return false;
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<EventId> outermost_calls(const Facts& facts, const std::vector<bool>& is_named_so) {
  const Events& events = facts.trace.events;
  const auto is_call = [&](EventId event) {
    return event != kNoEvent && is_api_call(events.kind[event]) && is_named_so[events.name[event]];
  };
  std::vector<EventId> calls;
  for (EventId event = 0; event < events.size(); ++event)
    if (is_call(event) && !is_call(events.parent[event]) && facts.is_in_steps(event)) calls.push_back(event);
  return calls;
}

bool recur(const Facts& facts, const std::vector<EventId>& calls) {
  const StepTiming& timing = facts.diagnosis.timing;
  std::set<int> steps;
  for (const EventId call : calls) steps.insert(step_at(timing, facts.trace.events.start[call]));
  const auto count = static_cast<int>(timing.steps.size());
  return count > 1 && steps.contains(count - 1) && 2 * static_cast<int>(steps.size()) > count;
}

// What one step leaves behind may be a buffer that is made once; what several leave behind is not.
constexpr std::int64_t kLeastSteps = 2;
// Survivors have to explain at least this share of the growth.
constexpr double kShareExplained = 0.5;

std::optional<double> steps_until_full(const Facts& facts, const MemorySummary& memory, double growth) {
  const std::optional<std::int64_t> whole = memory_of(facts.trace, memory.device);
  if (!whole) return {};
  return std::max(0.0, static_cast<double>(*whole - memory.peak_allocated) / growth);
}

}  // namespace

std::optional<std::int64_t> memory_of(const Trace& trace, DeviceId device) {
  // The allocator may count devices otherwise than the tracer does; a single one is meant in any case.
  const auto found =
      trace.devices.size() == 1 ? trace.devices.begin() : std::ranges::find(trace.devices, device, &Device::id);
  return found == trace.devices.end() ? std::nullopt : found->memory_bytes;
}

AllocatorCalls allocator_calls(const Facts& facts) {
  AllocatorCalls calls;
  calls.allocations = outermost_calls(
      facts, names_where(facts.trace, [](std::string_view name) { return is_call_of(kAllocations, name); }));
  calls.frees =
      outermost_calls(facts, names_where(facts.trace, [](std::string_view name) { return is_call_of(kFrees, name); }));
  calls.allocations_recur = recur(facts, calls.allocations);
  calls.frees_recur = recur(facts, calls.frees);
  return calls;
}

Nanoseconds saved_without(const Facts& facts, const AllocatorCalls& calls) {
  Edit edit = facts.unobserved;
  const auto remove = [&](const std::vector<EventId>& removed) {
    for (const EventId call : removed) edit.scale_subtree(facts.trace, facts.launched, call, 0, 1);
    return removed.empty() ? 0 : facts.saved_by(edit);
  };
  const Nanoseconds by_frees = remove(calls.frees);
  const Nanoseconds by_allocations = calls.allocations.empty() ? 0 : remove(calls.allocations) - by_frees;
  return by_frees + static_cast<Nanoseconds>(kUnobservedShareOfAllocation * static_cast<double>(by_allocations));
}

std::optional<GrowingMemory> growing_memory(const Facts& facts) {
  if (!facts.diagnosis.memory) return {};
  const MemorySummary& memory = *facts.diagnosis.memory;
  const double growth = memory.growth_per_step.value_or(0);
  if (growth < kLeastMebibytesPerStep * 1024 * 1024) return {};
  // With three steps, only the two before the last one can have survivors.
  const auto lasting = std::ranges::find_if(memory.survivors, [&](const Survivor& survivor) {
    return survivor.steps >= kLeastSteps && static_cast<double>(survivor.bytes) >= kShareExplained * growth;
  });
  if (lasting == memory.survivors.end()) return {};
  return GrowingMemory{growth, *lasting, steps_until_full(facts, memory, growth)};
}

}  // namespace telltale
