// Activations that wait so long for the backward pass that they could wait in the host's memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <ranges>
#include <vector>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What pinned memory and PCIe 3.0 with 16 lanes come to, the slowest bus that training machines have; taken where the
// trace has no copies that show what this one does.
constexpr double kAssumedBytesPerSecond = 12e9;
// Smaller copies take longer to set up than to make, and tell nothing of the bus.
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;

struct Bus {
  double bytes_per_second = kAssumedBytesPerSecond;
  bool is_measured = false;

  Nanoseconds time_for(std::int64_t bytes) const {
    return static_cast<Nanoseconds>(static_cast<double>(bytes) / bytes_per_second * 1e9);
  }
};

// The slower of both ways, each as its fastest large copy with pinned memory shows it.
Bus bus_of(const Trace& trace) {
  double to_host = 0, to_device = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kMemcpy || trace.events.duration[event] <= 0) continue;
    const CopyInfo* const copy = trace.copies.find(event);
    if (copy == nullptr || copy->bytes < kLeastBytes) continue;
    const double speed = static_cast<double>(copy->bytes) / static_cast<double>(trace.events.duration[event]) * 1e9;
    if (copy->from == MemorySpace::kDevice && copy->to == MemorySpace::kPinned) to_host = std::max(to_host, speed);
    if (copy->from == MemorySpace::kPinned && copy->to == MemorySpace::kDevice) to_device = std::max(to_device, speed);
  }
  const double slower = to_host > 0 && to_device > 0 ? std::min(to_host, to_device) : std::max(to_host, to_device);
  return slower > 0 ? Bus{slower, true} : Bus{};
}

// When the backward pass first needs a block: when the operator begins that frees it.
Nanoseconds needed_at(const Trace& trace, const UsedBlock& block) {
  constexpr int kMostLooks = 1000;
  Nanoseconds start = block.freed;
  EventId at = block.freeing_event;
  for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = trace.events.parent[at])
    if (trace.events.kind[at] == Kind::kOperator) start = trace.events.start[at];
  return start;
}

struct Stay {
  const UsedBlock* block = nullptr;
  Absence away;  // from when its copy is on the host until that of the way back begins
};

// Each way has a queue: blocks leave in the order in which they are made, and come back in that in which they are
// needed, no earlier than the bus has to begin so that none is late.
std::vector<Stay> stays_on_host(const Trace& trace, std::span<const UsedBlock> blocks, const Bus& bus) {
  std::vector<Stay> stays;
  std::vector<Nanoseconds> needed;
  for (const UsedBlock& block : blocks) {
    const bool is_candidate = block.use == MemoryUse::kActivations && !block.is_left_behind &&
                              block.bytes >= kLeastBytes && block.allocated != UsedBlock::kBeforeTheTrace &&
                              block.freed != UsedBlock::kNever;
    if (!is_candidate) continue;
    stays.push_back({&block, {}});
    needed.push_back(needed_at(trace, block));
  }
  std::vector<std::size_t> order(stays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stays[i].block->allocated; });
  Nanoseconds bus_free = INT64_MIN;
  for (const std::size_t i : order) {
    bus_free = std::max(bus_free, stays[i].block->allocated) + bus.time_for(stays[i].block->bytes);
    stays[i].away.from = bus_free;
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return needed[i]; });
  Nanoseconds bus_taken = INT64_MAX;
  for (const std::size_t i : order) {
    bus_taken = std::min(bus_taken, needed[i]) - bus.time_for(stays[i].block->bytes);
    stays[i].away.until = bus_taken;
  }
  std::erase_if(stays, [](const Stay& stay) { return stay.away.from >= stay.away.until; });
  return stays;
}

MemoryEdit offloaded(const Trace& trace, std::span<const UsedBlock> blocks, const Bus& bus) {
  MemoryEdit edit;
  for (const Stay& stay : stays_on_host(trace, blocks, bus)) edit.send_away(*stay.block, stay.away);
  return edit;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  if (device.peak.device == kHost) return {};
  const Bus bus = bus_of(facts.trace);
  Finding finding;
  std::int64_t moved = 0;
  for (const Stay& stay : stays_on_host(facts.trace, device.at_peak, bus)) {
    if (stay.away.from > device.peak.time || device.peak.time >= stay.away.until) continue;
    moved += stay.block->bytes;
    if (stay.block->event != kNoEvent && finding.evidence.size() < Finding::kMaxEvidence)
      finding.evidence.push_back(stay.block->event);
  }
  if (!is_worth_freeing(device, moved)) return {};
  // The peak moves to where blocks have not left yet, or have come back.
  finding.saving_bytes = peak_lowered_by(offloaded(facts.trace, blocks, bus), blocks);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.cost = 0;
  finding.title = "Activations wait for the backward pass in the GPU's memory";
  finding.explanation = fmt::format(
      "{} of what stands at the peak is needed so much later that it can be copied to the host and back meanwhile: at "
      "{}/s, {}, that takes {} each way, beside the computation. The most that stands there then is {} less. Copies "
      "that the program waits for cost that time.",
      format_bytes(moved), format_bytes(static_cast<std::int64_t>(bus.bytes_per_second)),
      bus.is_measured ? "as recorded copies show" : "which is assumed of the bus", format_time(bus.time_for(moved)),
      format_bytes(finding.saving_bytes));
  finding.confidence = Confidence::kLow;
  if (!finding.evidence.empty()) finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = {"offload",
                 "Offload them with copies on a stream of their own, as torchtune's OffloadActivations does. "
                 "torch.autograd.graph.save_on_cpu(pin_memory=True) needs no other library, but waits for each copy.",
                 "+ with OffloadActivations(use_pin_memory=True, use_streams=True):\n      loss = model(x, y)"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding&, std::span<const UsedBlock> blocks) {
  return offloaded(facts.trace, blocks, bus_of(facts.trace));
}

}  // namespace

MemoryRule memory_rules::offload_activations() {
  return {{.title = "Activations that could wait on the host",
           .looks_for = fmt::format("Activations of {} MiB or more at the peak of a GPU that are made so long before "
                                    "the backward pass needs them that copies to the host and back fit in between.",
                                    kLeastBytes / 1024 / 1024),
           .needs = "Memory events of a training step; copies with pinned memory for the speed of the bus.",
           .saving = fmt::format("Bytes: how much lower the peak is when blocks leave one after the other as they are "
                                 "made and come back just in time, at the speed of the fastest copy of 1 MiB "
                                 "or more with pinned memory, the slower of both ways; where none was recorded, at "
                                 "{:.0f} GB/s, as PCIe 3.0 has it. No time, as long as copies run beside the "
                                 "computation.",
                                 kAssumedBytesPerSecond / 1e9),
           .held = "Not compared with measurements yet.",
           .fixes = {"offload"}},
          find,
          edit};
}

}  // namespace telltale
