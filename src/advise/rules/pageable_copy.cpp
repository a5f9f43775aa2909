// Copies to the device from memory that the host may page out: the driver moves them piece by piece, and the host
// stands by.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Below this the driver's own buffer takes the copy at once, and pinned memory gained 1.5 % of a step of 48 copies.
constexpr std::int64_t kLeastKibibytes = 256;
// What calls take that enqueue a copy from pinned memory, as recorded.
constexpr float kEnqueue = 20'000;
// Savings of two measured cases, and who fills the pinned memory is not in the trace.
constexpr double kUncertainty = 0.25;

// Bytes per nanosecond, or GB/s, from pinned memory by the bus that GPUs of a generation stand on; 47 to 52 were
// measured on an H200.
constexpr double kPcie3 = 12, kPcie4 = 24, kPcie5 = 50;

// Without a generation the slowest.
double pinned_bandwidth(const Facts& facts) {
  constexpr int kAmpere = 8, kHopper = 9;
  const DeviceId id = facts.diagnosis.breakdown.device;
  const auto& devices = facts.trace.devices;
  const auto device = std::ranges::find(devices, id, &Device::id);
  const int generation = device == devices.end() ? 0 : device->compute_major.value_or(0);
  return generation >= kHopper ? kPcie5 : generation >= kAmpere ? kPcie4 : kPcie3;
}

bool is_large(const CopyCall& copy) { return copy.bytes >= kLeastKibibytes * 1024; }

// Of one thread and step, with no work launched in between: tensors of a batch, as far as the trace tells.
bool belong_together(const Facts& facts, EventId launch, EventId next_launch) {
  if (launch == kNoEvent || next_launch == kNoEvent) return false;
  const Trace& trace = facts.trace;
  return trace.events.track[launch] == trace.events.track[next_launch] &&
         trace.step_of(launch) == trace.step_of(next_launch) &&
         facts.launched.of_range(launch + 1, next_launch).empty();
}

// Copies that pinning would change, by launch: large ones and, as who pins a batch pins all of it, the small ones
// beside them. These take no time themselves, but wait for the large one and all that the device had to do before it.
std::vector<CopyCall> copies_of_batches(const Facts& facts) {
  std::vector<CopyCall> copies;
  for (const CopyCall& call : facts.diagnosis.copies.calls)
    if (call.is_pageable && call.direction == CopyDirection::kHostToDevice && call.bytes > 0) copies.push_back(call);
  const auto launch_of = [&](const CopyCall& copy) { return facts.trace.launch_of(copy.event); };
  std::ranges::stable_sort(copies, {}, launch_of);
  std::vector<CopyCall> chosen;
  for (auto first = copies.begin(); first != copies.end();) {
    auto end = first + 1;
    while (end != copies.end() && belong_together(facts, launch_of(end[-1]), launch_of(*end))) ++end;
    if (std::any_of(first, end, is_large)) chosen.insert(chosen.end(), first, end);
    first = end;
  }
  return chosen;
}

// The copies at full speed, and a host that only enqueues them.
Edit pinned(const Facts& facts, const std::vector<CopyCall>& copies) {
  const double bandwidth = pinned_bandwidth(facts);
  Edit edit = facts.unobserved;
  for (const CopyCall& copy : copies) {
    const double copying = static_cast<double>(copy.bytes) / bandwidth;
    const double share = copying / static_cast<double>(std::max<Nanoseconds>(copy.duration, 1));
    if (is_large(copy)) edit.scale_event(facts.trace, copy.event, static_cast<float>(std::min(1.0, share)));
    const EventId launch = facts.trace.launch_of(copy.event);
    if (launch == kNoEvent) continue;
    const auto called = static_cast<float>(std::max<Nanoseconds>(facts.trace.events.duration[launch], 1));
    edit.scale_event(facts.trace, launch, std::min(1.0F, kEnqueue / called));
    edit.drop_wait(facts.trace, launch);
    if (copy.wait != kNoEvent) edit.drop_wait(facts.trace, copy.wait);
  }
  return edit;
}

Fix fix_for(const Facts& facts) {
  if (facts.trains)
    return {"pin_memory",
            "Let the loader pin its batches, or pin them yourself ahead of time, and copy without blocking.",
            "+ loader = DataLoader(…, pin_memory=True)\n"
            "- batch = batch.to(device)\n"
            "+ batch = batch.to(device, non_blocking=True)"};
  return {"pin_memory", "Keep inputs in buffers that are pinned once, and copy from these without blocking.",
          "+ buffer = torch.empty(shape, pin_memory=True)  # once\n"
          "- x = inputs.to(device)\n"
          "+ x = buffer.copy_(inputs).to(device, non_blocking=True)"};
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<CopyCall> copies = copies_of_batches(facts);
  if (copies.empty()) return {};
  const Edit edit = pinned(facts, copies);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  std::erase_if(copies, std::not_fn(is_large));
  std::ranges::stable_sort(copies, std::ranges::greater{}, &CopyCall::host_blocked);
  double bytes = 0, copying = 0;
  Finding finding;
  for (const CopyCall& copy : copies) {
    bytes += static_cast<double>(copy.bytes);
    copying += static_cast<double>(copy.duration);
    finding.evidence.push_back(copy.event);
  }
  finding.title = "Copies to the GPU come from pageable memory";
  finding.explanation = fmt::format(
      "{} per step reaches the GPU at {} GB/s while the host waits; from pinned memory it would be about {} GB/s, and "
      "the host would not wait.",
      format_bytes(bytes / facts.steps()), format_number(bytes / std::max(copying, 1.0)),
      format_number(pinned_bandwidth(facts)));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kMedium;
  finding.source = source_line(facts.trace, copies.front().event);
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::pageable_copy() {
  return {
      {.title = "Copies from pageable memory",
       .looks_for = fmt::format("Copies of {} KiB or more from pageable host memory to the GPU.", kLeastKibibytes),
       .needs = "CUDA activities; stacks for the source line.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed with copies as fast as pinned memory allows on the GPU's bus ({} GB/s for "
           "Hopper and later, {} for Ampere and Ada, {} before that), and with a host that does not wait for them, nor "
           "for smaller copies right beside them, which are of the same batch.",
           kPcie5, kPcie4, kPcie3),
       .held = "Predicted and measured savings, in percent of the step: 68 and 75 (pageable_batch), 15 and "
               "16 (pageable_batches), 3 and 16 (loader_no_workers).",
       .fixes = {"pin_memory"}},
      find};
}

}  // namespace telltale
