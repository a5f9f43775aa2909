// Gradients of the step before that are still there while the forward pass fills the memory.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// From the end of the optimizer's step until the backward pass makes them anew.
MemoryEdit freed_earlier(const Facts& facts, std::span<const UsedBlock> blocks) {
  const Events& events = facts.trace.events;
  struct Part {
    Interval span;
    bool is_optimizer;
  };
  std::vector<Part> parts;
  for (EventId event = 0; event < events.size(); ++event) {
    const Phase phase = facts.phases[event];
    if (is_on_device(events.kind[event]) || (phase != Phase::kOptimizer && phase != Phase::kBackward)) continue;
    if (events.parent[event] != kNoEvent && facts.phases[events.parent[event]] == phase) continue;
    parts.push_back({{events.start[event], events.end(event)}, phase == Phase::kOptimizer});
  }
  std::ranges::sort(parts, {}, [](const Part& part) { return part.span.begin; });
  std::vector<Absence> absences;
  std::optional<Nanoseconds> used;  // by the optimizer
  for (const Part& part : parts) {
    if (part.is_optimizer) {
      used = std::max(used.value_or(part.span.end), part.span.end);
    } else if (used) {
      absences.push_back({*used, part.span.begin});
      used.reset();
    }
  }
  if (used) absences.push_back({*used});
  MemoryEdit edit;
  for (const UsedBlock& block : blocks) {
    if (block.use != MemoryUse::kGradients) continue;
    for (const Absence& absence : absences) edit.send_away(block, absence);
  }
  return edit;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device) {
  const std::int64_t kept = bytes_for(device, MemoryUse::kGradients);
  if (!facts.trains || !is_worth_freeing(device, kept)) return {};
  // The peak moves to the backward pass where that holds more.
  const std::vector<UsedBlock> blocks = used_blocks(facts.trace, device.peak.device, facts.phases);
  const MemoryEdit edit = freed_earlier(facts, blocks);
  Finding finding;
  finding.saving_bytes = edited_peak(blocks, {}).allocated - edited_peak(blocks, edit).allocated;
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.cost = 0;
  finding.title = "Gradients of the last step stay during the forward pass";
  finding.explanation = fmt::format(
      "At the peak, {} of gradients are there, though the optimizer has used them. Without them the most that stands "
      "there at once is {} less.",
      format_bytes(kept), format_bytes(finding.saving_bytes));
  finding.fix = {"free_gradients",
                 "Free the gradients right behind the optimizer's step, and set them to None in place of zero. Where "
                 "gradients of several batches are added up, this is how it has to be.",
                 "  opt.step()\n+ opt.zero_grad(set_to_none=True)"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding&, std::span<const UsedBlock> blocks) {
  return freed_earlier(facts, blocks);
}

}  // namespace

MemoryRule memory_rules::kept_gradients() {
  return {{.title = "Gradients kept too long",
           .looks_for = "Gradients at the peak that the optimizer has used already.",
           .needs = "Memory events of a training step.",
           .saving = "Bytes: how much lower the peak is when gradients are away from the end of the optimizer's step "
                     "until the next backward pass begins. It costs no time.",
           .held = "Not compared with measurements yet.",
           .fixes = {"free_gradients"}},
          find,
          edit};
}

}  // namespace telltale
