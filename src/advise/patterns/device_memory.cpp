#include "advise/patterns/device_memory.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "trace/recording_facts.h"

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

}  // namespace

std::optional<std::int64_t> memory_of(const Trace& trace, DeviceId device) {
  if (device == kHost) {
    const std::string* const bytes = trace.metadata_named("memory_bytes");
    return bytes == nullptr ? std::nullopt : integer_in(*bytes);
  }
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

}  // namespace telltale
