#include "memory/memory_causes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "memory/inferred_steps.h"
#include "memory/leaked_blocks.h"
#include "trace/reference_chains.h"

namespace telltale {
namespace {

// Of those that are there at the end: an address may have had other tensors before.
void say_who_keeps(const std::vector<ReferenceChain>& chains, const std::vector<Nanoseconds>& step_ends,
                   std::vector<PeakTensor>& tensors) {
  for (PeakTensor& tensor : tensors) {
    if (tensor.freed && (step_ends.empty() || *tensor.freed <= step_ends.back())) continue;
    const auto chain = std::ranges::find(chains, tensor.address, &ReferenceChain::address);
    if (chain != chains.end()) tensor.kept_by = chain->links;
  }
}

}  // namespace

const DeviceCauses* fullest(const MemoryCauses& causes) {
  if (causes.devices.empty()) return nullptr;
  return &*std::ranges::max_element(causes.devices, {}, [](const DeviceCauses& each) {
    return std::pair(each.peak.device != kHost, each.peak.allocated);
  });
}

MemoryCauses memory_causes(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  MemoryCauses causes;
  const std::vector<DeviceId> logged = allocator_devices(trace);
  const std::vector<ReferenceChain> chains = reference_chains(trace).value_or(std::vector<ReferenceChain>());
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
    say_who_keeps(chains, found.step_ends, found.peak.tensors);
    found.timeline = memory_timeline(trace, device, blocks, steps);
    std::erase_if(blocks, [&](const UsedBlock& block) { return !block.lives_at(found.peak.time); });
    for (UsedBlock& block : blocks) block.use = block.use_at(found.peak.time);
    std::ranges::stable_sort(blocks, std::ranges::greater{}, &UsedBlock::bytes);
    found.at_peak = std::move(blocks);
    if (std::ranges::find(logged, device.device) != logged.end())
      found.fragmentation = fragmentation_at_peak(trace, device.device);
    causes.devices.push_back(std::move(found));
  }
  double of_host = 0;
  for (const MemoryLeak& leak : causes.leaks) of_host += leak.device == kHost ? leak.bytes_per_step : 0;
  std::ranges::move(resident_leaks(trace, timing, of_host), std::back_inserter(causes.leaks));
  return causes;
}

}  // namespace telltale
