#include "answers/out_of_memory.h"

#include <algorithm>

#include "advise/memory_report.h"
#include "analysis/host_work.h"
#include "analysis/phases.h"
#include "memory/memory_what_if.h"
#include "report/out_of_memory_words.h"

namespace telltale::answers {
namespace {

// What PyTorch could have had when the last request failed: what it held, and what the device had free. Nothing where
// no request did.
std::optional<std::int64_t> room_at_failure(const Trace& trace, DeviceId device) {
  AllocatorWalk walk(trace, device);
  std::optional<std::int64_t> room;
  while (walk.apply_next()) {
    const AllocatorEvent& event = trace.allocator_events[walk.entry()];
    if (event.action == AllocatorAction::kOutOfMemory)
      room = walk.totals().reserved + static_cast<std::int64_t>(event.address);
  }
  return room;
}

std::optional<MemoryWhatIf> simulated(const Trace& trace, DeviceId device, const MemoryEdit& edit) {
  MemoryWhatIfChanges changes;
  changes.capacity = capacity_of(trace, device);
  if (!changes.capacity) changes.capacity = room_at_failure(trace, device);
  if (!changes.capacity) return {};
  // Where it fits as it is, the simulation does not know why it failed.
  if (memory_what_if(trace, device, changes).verdict() != MemoryWhatIf::Verdict::kFails) return {};
  changes.edit = edit;
  return memory_what_if(trace, device, changes);
}

// With the requests that failed: they stand in the allocator's log alone.
std::optional<MemoryWhatIf> added_up(const Trace& trace, DeviceId device, const MemoryEdit& edit) {
  MemoryWhatIfChanges changes{.capacity = capacity_of(trace, device)};
  const std::vector<DeviceMemory> all = memory_by_device(trace);
  const auto memory = std::ranges::find(all, device, &DeviceMemory::device);
  if (!changes.capacity || memory == all.end()) return {};
  std::vector<UsedBlock> blocks = used_blocks(trace, device, phase_by_event(trace, host_work_by_event(trace)));
  for (const AllocatorEvent& event : trace.allocator_events) {
    if (event.device != device || event.action != AllocatorAction::kOutOfMemory) continue;
    blocks.push_back({.bytes = event.bytes, .allocated = event.time, .freed = event.time + 1, .event = event.event});
  }
  if (walked_what_if(trace, *memory, blocks, changes).verdict() != MemoryWhatIf::Verdict::kFails) return {};
  changes.edit = edit;
  return walked_what_if(trace, *memory, blocks, changes);
}

}  // namespace

std::vector<std::string> out_of_memory_diagnosis(const Trace& trace) {
  if (!has_memory(trace)) return {};
  const MemoryReport report = memory_report(trace, {}, true);
  const auto first = std::ranges::find_if(report.findings, [](const Finding& each) { return each.saving_bytes > 0; });
  const DeviceCauses* const device = fullest(report.causes);
  std::optional<MemoryWhatIf> with_first_fix;
  if (device != nullptr && first != report.findings.end() && first->memory_edit && !first->memory_edit->is_empty())
    with_first_fix = device->fragmentation ? simulated(trace, device->peak.device, *first->memory_edit)
                                           : added_up(trace, device->peak.device, *first->memory_edit);
  return telltale::out_of_memory_diagnosis(report, with_first_fix);
}

}  // namespace telltale::answers
