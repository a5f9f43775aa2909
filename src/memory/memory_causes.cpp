#include "memory/memory_causes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "memory/inferred_steps.h"
#include "memory/leaked_blocks.h"

namespace telltale {

const DeviceCauses* fullest(const MemoryCauses& causes) {
  if (causes.devices.empty()) return nullptr;
  return &*std::ranges::max_element(causes.devices, {}, [](const DeviceCauses& each) {
    return std::pair(each.peak.device != kHost, each.peak.allocated);
  });
}

MemoryCauses memory_causes(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  MemoryCauses causes;
  const std::vector<DeviceId> logged = allocator_devices(trace);
  for (const DeviceMemory& device : memory_by_device(trace)) {
    std::vector<UsedBlock> blocks = used_blocks(trace, device.device, phases);
    DeviceCauses found;
    found.has_history = trace.memory.size() > 0;
    std::optional<StepTiming> inferred;
    if (timing.source == StepSource::kWhole) inferred = inferred_steps(trace, device.device);
    if (inferred) causes.inferred_steps = std::max(causes.inferred_steps, inferred->steps.size());
    const StepTiming& steps = inferred ? *inferred : timing;
    std::ranges::move(memory_leaks(trace, device.device, blocks, steps, device.peak.allocated),
                      std::back_inserter(causes.leaks));
    found.step_ends = step_ends_for_leaks(trace, steps);
    LeakedBlocks(trace, device.device, causes.leaks, found.step_ends).mark(blocks, device.peak.time);
    found.peak = memory_peak(trace, device, blocks);
    found.timeline = memory_timeline(trace, device, blocks, steps);
    std::erase_if(blocks, [&](const UsedBlock& block) { return !block.lives_at(found.peak.time); });
    for (UsedBlock& block : blocks) block.use = block.use_at(found.peak.time);
    std::ranges::stable_sort(blocks, std::ranges::greater{}, &UsedBlock::bytes);
    found.at_peak = std::move(blocks);
    if (std::ranges::find(logged, device.device) != logged.end())
      found.fragmentation = fragmentation_at_peak(trace, device.device);
    causes.devices.push_back(std::move(found));
  }
  std::ranges::move(resident_leaks(trace, timing), std::back_inserter(causes.leaks));
  return causes;
}

}  // namespace telltale
