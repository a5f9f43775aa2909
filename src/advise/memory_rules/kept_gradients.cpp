// Gradients of the step before that are still there while the forward pass fills the memory.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// A backward pass, from its first operator, and when the optimizer behind it was done with the gradients.
struct Pass {
  Nanoseconds begin = 0;
  std::optional<Nanoseconds> used;
};

std::vector<Pass> passes_of(const Facts& facts) {
  const Events& events = facts.trace.events;
  std::vector<std::pair<Interval, Phase>> parts;
  for (EventId event = 0; event < events.size(); ++event) {
    const Phase phase = facts.phases[event];
    const bool counts = phase == Phase::kOptimizer || phase == Phase::kBackward || phase == Phase::kForward;
    if (is_on_device(events.kind[event]) || !counts) continue;
    if (events.parent[event] != kNoEvent && facts.phases[events.parent[event]] == phase) continue;
    parts.emplace_back(Interval{events.start[event], events.end(event)}, phase);
  }
  std::ranges::sort(parts, {}, [](const auto& part) { return part.first.begin; });
  std::vector<Pass> passes;
  bool is_forward = false;  // again: what the optimizer does then, as zero_grad() before backward(), is no use of them
  for (const auto& [span, phase] : parts) {
    if (phase == Phase::kBackward && (passes.empty() || passes.back().used)) passes.push_back({span.begin, {}});
    if (phase == Phase::kOptimizer && !passes.empty() && !is_forward) passes.back().used = span.end;
    is_forward = phase == Phase::kForward || (is_forward && phase == Phase::kOptimizer);
  }
  return passes;
}

// From the end of the optimizer's step until the next backward pass comes to where it made them.
MemoryEdit freed_earlier(const Facts& facts, std::span<const UsedBlock> blocks) {
  const std::vector<Pass> passes = passes_of(facts);
  MemoryEdit edit;
  for (const UsedBlock& block : blocks) {
    if (block.use != MemoryUse::kGradients) continue;
    auto pass = std::ranges::upper_bound(passes, block.allocated, {}, &Pass::begin);
    if (pass == passes.begin()) continue;
    const Nanoseconds into = block.allocated - std::prev(pass)->begin;
    for (--pass; pass != passes.end() && pass->used; ++pass)
      edit.send_away(
          block, {*pass->used, std::next(pass) == passes.end() ? UsedBlock::kNever : std::next(pass)->begin + into});
  }
  return edit;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const std::int64_t kept = bytes_for(device, MemoryUse::kGradients);
  if (!facts.trains || !is_worth_freeing(device, kept)) return {};
  // The peak moves to the backward pass where that holds more.
  const MemoryEdit edit = freed_earlier(facts, blocks);
  Finding finding;
  finding.saving_bytes = peak_lowered_by(edit, blocks);
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
  return {
      {.title = "Gradients kept too long",
       .looks_for = "Gradients at the peak that the optimizer has used already.",
       .needs = "Memory events of a training step.",
       .saving = "Bytes: how much lower the peak is when gradients are away from the end of the optimizer's step "
                 "until the next backward pass comes to where it makes them. It costs no time.",
       .held =
           "Predicted and measured, in MiB: 320 and 320 on an H200, 18.0 and 18.0 on a CPU, in programs made for it.",
       .fixes = {"free_gradients"}},
      find,
      edit};
}

}  // namespace telltale
