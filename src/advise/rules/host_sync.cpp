// The host waits for the device in the middle of a step, and the device then waits for the host.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// How far off savings of this rule were, as a share of them.
constexpr double kUncertainty = 0.4;

// Waits behind copies from pageable memory are those of another rule.
std::set<EventId> waits_of_pageable_copies(const Facts& facts) {
  std::set<EventId> waits;
  for (const CopyCall& copy : facts.diagnosis.copies.calls)
    if (copy.is_pageable && copy.direction == CopyDirection::kHostToDevice) waits.insert(copy.wait);
  return waits;
}

bool is_wait_by_name(const Facts& facts, const SyncPoint& sync) {
  return facts.host_work[sync.call] == HostWork::kSync && is_waiting_call(facts.trace.name(sync.call));
}

std::string what_waits(const Facts& facts, const SyncPoint& sync) {
  return std::string(facts.trace.name(sync.op == kNoEvent ? sync.call : sync.op));
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.graph.is_launch_blocking()) return {};
  const std::set<EventId> of_copies = waits_of_pageable_copies(facts);
  std::vector<SyncPoint> waits;
  Edit edit = facts.unobserved;
  for (const SyncPoint& sync : facts.diagnosis.syncs) {
    if (!is_wait_by_name(facts, sync) || of_copies.contains(sync.call)) continue;
    waits.push_back(sync);
    edit.drop_wait(facts.trace, sync.call);
  }
  if (waits.empty()) return {};
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  std::stable_sort(waits.begin(), waits.end(),
                   [](const SyncPoint& a, const SyncPoint& b) { return a.idle_after > b.idle_after; });
  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = facts.trace.recorded.stacks ? Confidence::kMedium : Confidence::kLow;
  for (const SyncPoint& sync : waits) finding.evidence.push_back(sync.call);
  finding.source = source_line(facts.trace, waits.front().call);
  const double per_step = static_cast<double>(waits.size()) / facts.steps();
  finding.title = fmt::format("The host waits for the GPU {} per step", how_often(per_step));
  finding.explanation = fmt::format(
      "{} makes the host wait until the GPU has finished everything; the GPU then has nothing to do while the host "
      "prepares new work.",
      what_waits(facts, waits.front()));
  finding.fix = {"remove_sync",
                 "Keep the value on the GPU and read it only every so many steps, or copy it without blocking.",
                 "- total += loss.item()\n+ total += loss.detach()  # .item() once, when it is printed"};
  return {finding};
}

}  // namespace

Rule rules::host_sync() {
  return {
      {.title = "Waits for the GPU within a step",
       .looks_for = "Calls that return only when the GPU is done (.item(), nonzero, *Synchronize, blocking copies) and "
                    "leave it with nothing to do.",
       .needs = "CPU and CUDA activities; stacks for the source line.",
       .saving =
           "The steps are replayed without the waits. A wait saves nothing where the host is the bottleneck anyway.",
       .held = "In 6 programs the median error was 1.6 points of the step and the largest 8 (item_every_layer: "
               "predicted 5, measured -3).",
       .fixes = {"remove_sync"}},
      find};
}

}  // namespace telltale
