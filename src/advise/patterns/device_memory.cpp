#include "advise/patterns/device_memory.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "analysis/api_calls.h"
#include "memory/memory_peak.h"

namespace telltale {
namespace {

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

std::optional<MemoryInUse> memory_in_use(const Facts& facts) {
  const Diagnosis& diagnosis = facts.diagnosis;
  if (diagnosis.memory) {
    const std::optional<std::int64_t> whole = capacity_of(facts.trace, diagnosis.memory->device);
    return whole ? std::optional(MemoryInUse{diagnosis.memory->peak_allocated, *whole}) : std::nullopt;
  }
  if (!diagnosis.energy || !diagnosis.breakdown.has_device) return std::nullopt;
  const auto& gauged = diagnosis.energy->devices;
  const auto found = std::ranges::find(gauged, diagnosis.breakdown.device, &GaugedDevice::device);
  if (found == gauged.end() || !found->memory_headroom()) return std::nullopt;
  return MemoryInUse{*found->peak_memory_bytes, *found->memory_bytes};
}

AllocatorCalls allocator_calls(const Facts& facts) {
  AllocatorCalls calls;
  // Memory of the host is another matter, and stream-ordered allocation is meant to be called all the time.
  const auto calls_that_are = [&](ApiCall wanted) {
    return outermost_calls(
        facts, names_where(facts.trace, [=](std::string_view name) { return api_call_named(name) == wanted; }));
  };
  calls.allocations = calls_that_are(ApiCall::kAllocation);
  calls.frees = calls_that_are(ApiCall::kFree);
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

Edit without_calls(const Facts& facts, const AllocatorCalls& calls) {
  constexpr auto kLeftOfAllocation = static_cast<float>(1 - kUnobservedShareOfAllocation);
  Edit edit = facts.unobserved;
  for (const EventId call : calls.frees) edit.scale_subtree(facts.trace, facts.launched, call, 0, 1);
  for (const EventId call : calls.allocations)
    edit.scale_subtree(facts.trace, facts.launched, call, kLeftOfAllocation, 1);
  return edit;
}

}  // namespace telltale
