// The device lowers its clock against the program's will, and the step waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kLeastPercent = 3;

// Work whose time goes with the clock of the multiprocessors; other kernels mostly wait for memory.
bool computes(WorkClass work) {
  return work == WorkClass::kMatmul || work == WorkClass::kConvolution || work == WorkClass::kAttention;
}

// How much less time a kernel would take at the clock that the device has when nothing throttles it.
double saved_share(const SlowedClock& clock) { return clock.throttled_percent / 100 * clock.lost_percent() / 100; }

const GaugedDevice* slowed_device(const Facts& facts) {
  if (!facts.diagnosis.energy) return nullptr;
  const GaugedDevice* slowest = nullptr;
  for (const GaugedDevice& device : facts.diagnosis.energy->devices)
    if (device.clock && device.device != kHost &&
        (slowest == nullptr || saved_share(*device.clock) > saved_share(*slowest->clock)))
      slowest = &device;
  return slowest;
}

Fix fix_for(const GaugedDevice& device) {
  const auto is_about_power = [](const ThrottleReason& reason) { return reason.name.starts_with("power"); };
  if (!device.throttle_reasons.empty() && is_about_power(device.throttle_reasons.front()))
    return {"raise_power_limit",
            "Raise the GPU's power limit where its range, cooling and supply allow it (nvidia-smi -q -d POWER shows "
            "the range), or lower the work per second: 16-bit types need less power for the same result.",
            "$ sudo nvidia-smi -pl WATTS"};
  return {"cool_device",
          "Cool the GPU better: look at its air flow, its neighbors and the temperature of the room (nvidia-smi -q -d "
          "TEMPERATURE shows its limits).",
          ""};
}

std::vector<Finding> find(const Facts& facts) {
  const GaugedDevice* const device = slowed_device(facts);
  if (device == nullptr) return {};
  const Trace& trace = facts.trace;
  const auto left = static_cast<float>(1 - saved_share(*device->clock));
  Edit all = facts.unobserved, computing = facts.unobserved;
  CallSum calls(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (trace.events.kind[call.event] != Kind::kKernel || call.work == WorkClass::kCommunication) continue;
    if (trace.tracks[trace.events.track[call.event]].device != device->device) continue;
    calls.add(call.event);
    all.scale_event(trace, call.event, left);
    if (computes(call.work)) computing.scale_event(trace, call.event, left);
  }
  if (calls.empty()) return {};
  const Nanoseconds most = std::max<Nanoseconds>(0, facts.saved_by(all));
  const Nanoseconds least = std::clamp<Nanoseconds>(facts.saved_by(computing), 0, most);
  const Nanoseconds likely = (least + most) / 2;
  if (facts.percent_of_step(likely) < kLeastPercent) return {};

  Finding finding;
  finding.saving.low = least;
  finding.saving.likely = likely;
  finding.saving.high = most;
  finding.edit = facts.kept(all);
  finding.reach = changed_by(facts, all);
  finding.evidence = calls.longest();
  finding.source = source_line(trace, finding.evidence.front());
  finding.confidence = Confidence::kMedium;
  std::vector<std::string> reasons;
  for (const ThrottleReason& reason : device->throttle_reasons) reasons.push_back(reason.name);
  finding.title = "The GPU is throttled";
  finding.explanation = fmt::format(
      "For {} of its busy time {} lowers its clock ({}): to {} MHz, from {} MHz when it is as busy and free to run.",
      format_percent(device->clock->throttled_percent), device->name, listed(reasons),
      format_number(device->clock->throttled_mhz), format_number(device->clock->free_mhz));
  finding.fix = fix_for(*device);
  return {finding};
}

}  // namespace

Rule rules::throttling() {
  return {{.title = "A throttled GPU",
           .looks_for = fmt::format("Readings of a busy GPU (utilization of half or more) with a throttle reason of "
                                    "power or temperature, whose clock is lower than without one, at a cost of {} % of "
                                    "the step or more. At least {} readings of each kind.",
                                    kLeastPercent, kLeastReadings),
           .needs = "CPU and CUDA activities, and gauges, which telltale record reads where there is an NVIDIA driver.",
           .cannot_do_without = {{Need::kDevice}, {Need::kGauges}},
           .saving = "The steps are replayed with kernels as much shorter as the clock would be higher: at least the "
                     "matrix products, convolutions and attention, at most all kernels; the likely saving is between "
                     "the two.",
           .held = "Not measured yet.",
           .fixes = {"raise_power_limit", "cool_device"}},
          find};
}

}  // namespace telltale
