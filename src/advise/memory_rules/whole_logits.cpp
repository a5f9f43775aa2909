// Logits of all tokens at once: tokens × vocabulary numbers, several times over.
#include <fmt/format.h>

#include <algorithm>

#include "advise/memory_rule.h"
#include "analysis/memory_summary.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr std::int64_t kPieces = 8;

// What the loss makes: log_softmax and what runs inside it or cross_entropy.
bool is_of_loss(const Trace& trace, EventId event) {
  constexpr int kMostLooks = 1000;
  for (int looks = 0; event != kNoEvent && looks < kMostLooks; ++looks, event = trace.events.parent[event]) {
    const std::string_view name = trace.name(event);
    const bool is_operator = trace.events.kind[event] == Kind::kOperator;
    if (is_operator && (name.contains("log_softmax") || name.contains("cross_entropy"))) return true;
  }
  return false;
}

// The largest block of the loss at the peak; 0 where there is none. Blocks come by falling size.
std::int64_t largest_of_loss(const Trace& trace, const DeviceCauses& device) {
  const auto found =
      std::ranges::find_if(device.at_peak, [&](const UsedBlock& block) { return is_of_loss(trace, block.event); });
  return found == device.at_peak.end() ? 0 : found->bytes;
}

// The logits that the loss got have its size, or half of it where they were made wider first.
bool is_logits(const UsedBlock& block, std::int64_t largest) {
  const bool is_made_in_step = block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries;
  return is_made_in_step && !block.is_left_behind && (block.bytes == largest || 2 * block.bytes == largest);
}

MemoryEdit in_pieces(std::int64_t largest, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_logits(block, largest)) edit.scale(block, 1.0 / kPieces);
  return edit;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const std::int64_t largest = largest_of_loss(facts.trace, device);
  if (largest == 0) return {};
  Finding finding;
  for (const UsedBlock& block : device.at_peak)
    if (is_of_loss(facts.trace, block.event)) finding.evidence.push_back(maker_of(facts.trace, block.event));
  const auto belongs = [&](const UsedBlock& block) { return is_logits(block, largest); };
  const auto count = std::ranges::count_if(device.at_peak, belongs);
  finding.saving_bytes = peak_lowered_by(in_pieces(largest, blocks), blocks);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "The logits of all tokens stand in memory at once";
  finding.explanation = fmt::format(
      "At the peak, {} of {} belong to the loss: a number for each token and each word of the vocabulary. In {} "
      "pieces, only one of them is there at a time.",
      counted(static_cast<double>(count), "block"), format_bytes(largest), kPieces);
  finding.fix = {"chunk",
                 "Compute head and loss over pieces of the tokens, each under checkpoint, so that its logits are made "
                 "again when the backward pass needs them; or use a fused linear cross entropy.",
                 "- loss = F.cross_entropy(head(x), y)\n"
                 "+ parts = zip(x.chunk(8), y.chunk(8))\n"
                 "+ loss = sum(checkpoint(piece_of_loss, a, b, use_reentrant=False) for a, b in parts) / len(x)"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses& device, const Finding&, std::span<const UsedBlock> blocks) {
  return in_pieces(largest_of_loss(facts.trace, device), blocks);
}

}  // namespace

MemoryRule memory_rules::whole_logits() {
  return {{.title = "Logits of all tokens at once",
           .looks_for = "Blocks at the peak that log_softmax or cross_entropy made, and others of the size of the "
                        "largest of them or of half that size, which the step made.",
           .needs = "Memory events with their operators; stacks for the source line.",
           .saving = fmt::format("Bytes: how much lower the peak is with one of {} pieces of these at a time; it may "
                                 "move to where others stand.",
                                 kPieces),
           .held = "Predicted and measured, in MiB: 2,617 and 2,508, in a program made for it on an H200; 78 and 70, "
                   "in a transformer on a CPU.",
           .fixes = {"chunk"}},
          find,
          edit};
}

}  // namespace telltale
