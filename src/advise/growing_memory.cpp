#include "advise/growing_memory.h"

#include <algorithm>

namespace telltale {
namespace {

// Healthy programs whose inputs vary grew by up to 0.6 MiB a step over three steps.
constexpr double kLeastGrowth = 2.0 * 1024 * 1024;
// What one step leaves behind may be a buffer that is made once; what several leave behind is not.
constexpr std::int64_t kLeastSteps = 2;
// Survivors have to explain at least this share of the growth.
constexpr double kShareExplained = 0.5;

std::optional<double> steps_until_full(const Facts& facts, const MemorySummary& memory, double growth) {
  const auto& devices = facts.trace.devices;
  const auto device = std::ranges::find(devices, memory.device, &Device::id);
  if (device == devices.end() || !device->memory_bytes) return {};
  return std::max(0.0, static_cast<double>(*device->memory_bytes - memory.peak_allocated) / growth);
}

}  // namespace

std::optional<GrowingMemory> growing_memory(const Facts& facts) {
  if (!facts.diagnosis.memory) return {};
  const MemorySummary& memory = *facts.diagnosis.memory;
  const double growth = memory.growth_per_step.value_or(0);
  if (growth < kLeastGrowth) return {};
  // With three steps, only the two before the last one can have survivors.
  const auto lasting = std::ranges::find_if(memory.survivors, [&](const Survivor& survivor) {
    return survivor.steps >= kLeastSteps && static_cast<double>(survivor.bytes) >= kShareExplained * growth;
  });
  if (lasting == memory.survivors.end()) return {};
  return GrowingMemory{growth, *lasting, steps_until_full(facts, memory, growth)};
}

}  // namespace telltale
