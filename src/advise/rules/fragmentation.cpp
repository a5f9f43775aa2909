// Much of the memory that torch has reserved is in pieces that nothing fits into.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_memory.h"
#include "advise/rule.h"
#include "base/amounts.h"
#include "memory/memory_peak.h"

namespace telltale {
namespace {

constexpr double kLeastShare = 0.2;
// Unused memory hurts when the device could not spare it.
constexpr double kLeastShareOfDevice = 0.1;
constexpr double kLeastGibibytesOfUnknownDevice = 4;
constexpr double kUncertainty = 0.4;

double least_bytes(const Facts& facts, DeviceId id) {
  const std::optional<std::int64_t> whole = capacity_of(facts.trace, id);
  return whole ? kLeastShareOfDevice * static_cast<double>(*whole)
               : kLeastGibibytesOfUnknownDevice * 1024 * 1024 * 1024;
}

// Segments that grow need no new ones.
void add_saving(const Facts& facts, Finding& finding) {
  const AllocatorCalls calls = allocator_calls(facts);
  if (!calls.allocations_recur) return;
  finding.saving = saving_around(facts, std::max<Nanoseconds>(0, saved_without(facts, calls)), kUncertainty);
  finding.edit = facts.kept(without_calls(facts, calls));
  finding.evidence = calls.allocations;
  finding.reach = calls.allocations;
  finding.reach.insert(finding.reach.end(), calls.frees.begin(), calls.frees.end());
}

std::vector<Finding> find(const Facts& facts) {
  if (!facts.diagnosis.memory) return {};
  const MemorySummary& memory = *facts.diagnosis.memory;
  const auto reserved = static_cast<double>(memory.reserved_at_peak);
  const double unused = reserved - static_cast<double>(memory.peak_allocated);
  if (unused < kLeastShare * reserved || unused < least_bytes(facts, memory.device)) return {};
  Finding finding;
  finding.title = fmt::format("{} of the reserved GPU memory is unused", format_percent(100 * unused / reserved));
  finding.explanation = fmt::format(
      "At its peak the program uses {}, but torch has reserved {}: the rest is in pieces that were too small, or left "
      "over from an earlier, larger need.",
      format_bytes(memory.peak_allocated), format_bytes(reserved));
  add_saving(facts, finding);
  finding.confidence = Confidence::kMedium;
  finding.fix = {"expandable_segments", "Let torch grow its memory segments instead of reserving new ones.",
                 "+ export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"};
  return {finding};
}

}  // namespace

Rule rules::fragmentation() {
  return {
      {.title = "Fragmented memory",
       .looks_for = fmt::format("{:.0f} % of the reserved memory or more unused at the peak, if that is {:.0f} % "
                                "of the GPU's memory or, where its size is unknown, {} GiB.",
                                100 * kLeastShare, 100 * kLeastShareOfDevice, kLeastGibibytesOfUnknownDevice),
       .needs = "Memory events (profile_memory=True) of a GPU, with totals.",
       .cannot_do_without = {{Need::kDevice}, {Need::kMemory}},
       .saving = "No time, unless every step calls cudaMalloc: then as for allocator_churn. In telltale memory, bytes: "
                 "how much less is reserved at most in a simulation with segments that grow, where the "
                 "allocator's log was recorded.",
       .held = "Predicted and measured savings, in percent of the step: 11 and 14 (longer_every_step).",
       .fixes = {"expandable_segments"},
       .is_about_memory = true},
      find};
}

}  // namespace telltale
