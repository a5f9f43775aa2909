#include "advise/batch_model.h"

#include <algorithm>

namespace telltale {
namespace {

// An operator that computes on the CPU this long works on the batch.
constexpr Nanoseconds kCpuWork = 100'000;
// Of what the replay promises: 12 programs whose host was the bottleneck gained 48 % on average, not 50.
constexpr double kShareThatHeld = 0.96;
// Of the device's memory, with room for what is not tensors.
constexpr double kUsableMemory = 0.9;

// Twice the work fills what is empty before it takes longer.
float growth_of(const Facts& facts, const DeviceCall& call) {
  if (call.work == WorkClass::kOptimizer) return 1;
  const KernelInfo* kernel = facts.trace.kernels.find(call.event);
  if (kernel == nullptr) return 2;
  const float blocks = facts.trace.kernel_launches[kernel->launch].blocks_per_multiprocessor;
  return blocks < 0 ? 2 : 1 + std::min(1.0F, blocks);
}

}  // namespace

Edit doubled_batch(const Facts& facts) {
  const Trace& trace = facts.trace;
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls)
    edit.scale_event(trace, call.event, growth_of(facts, call));
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_on_device(trace.events.kind[event])) continue;
    const HostWork work = facts.host_work[event];
    const bool is_cpu_work = work == HostWork::kOperators && trace.events.duration[event] >= kCpuWork &&
                             (event + 1 == trace.events.size() || trace.events.parent[event + 1] != event);
    if (work == HostWork::kDataLoading || is_cpu_work ||
        (work == HostWork::kCopies && trace.events.duration[event] >= kCpuWork))
      edit.scale_event(trace, event, 2);
  }
  return edit;
}

Nanoseconds saved_by_doubled_batch(const Facts& facts) {
  const Nanoseconds saved = facts.step - facts.graph.replay(doubled_batch(facts)).period / 2;
  return static_cast<Nanoseconds>(kShareThatHeld * static_cast<double>(saved));
}

std::optional<bool> has_memory_for_doubled_batch(const Facts& facts) {
  if (!facts.diagnosis.memory) return {};
  const DeviceId id = facts.diagnosis.memory->device;
  const auto device = std::find_if(facts.trace.devices.begin(), facts.trace.devices.end(),
                                   [id](const Device& candidate) { return candidate.id == id; });
  if (device == facts.trace.devices.end() || !device->memory_bytes) return {};
  return 2 * static_cast<double>(facts.diagnosis.memory->peak_allocated) <=
         kUsableMemory * static_cast<double>(*device->memory_bytes);
}

}  // namespace telltale
