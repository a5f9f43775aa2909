// Logits of all tokens at once: tokens × vocabulary numbers, several times over.
#include <fmt/format.h>

#include <set>

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

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device) {
  std::set<std::int64_t> sizes;
  Finding finding;
  std::int64_t largest = 0;
  for (const UsedBlock& block : device.at_peak) {
    if (!is_of_loss(facts.trace, block.event)) continue;
    if (block.bytes >= largest) sizes = {block.bytes};  // blocks come by falling size
    largest = std::max(largest, block.bytes);
    finding.evidence.push_back(maker_of(facts.trace, block.event));
  }
  if (finding.evidence.empty()) return {};
  // The logits that the loss got have its size, or half of it where they were made wider first.
  std::int64_t all = 0, blocks = 0;
  for (const UsedBlock& block : device.at_peak) {
    const bool is_made_in_step = block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries;
    if (!is_made_in_step || (block.bytes != largest && 2 * block.bytes != largest)) continue;
    all += block.bytes;
    ++blocks;
  }
  finding.saving_bytes = all - all / kPieces;
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "The logits of all tokens stand in memory at once";
  finding.explanation = fmt::format(
      "At the peak, {} of {} belong to the loss: a number for each token and each word of the vocabulary. In {} "
      "pieces, "
      "only one of them is there at a time.",
      counted(static_cast<double>(blocks), "block"), format_bytes(largest), kPieces);
  finding.fix = {"chunk",
                 "Compute head and loss over pieces of the tokens, each under checkpoint, so that its logits are made "
                 "again when the backward pass needs them; or use a fused linear cross entropy.",
                 "- loss = F.cross_entropy(head(x), y)\n"
                 "+ parts = zip(x.chunk(8), y.chunk(8))\n"
                 "+ loss = sum(checkpoint(piece_of_loss, a, b, use_reentrant=False) for a, b in parts) / len(x)"};
  return {finding};
}

}  // namespace

MemoryRule memory_rules::whole_logits() {
  return {{.title = "Logits of all tokens at once",
           .looks_for = "Blocks at the peak that log_softmax or cross_entropy made, and others of the size of the "
                        "largest of them or of half that size, which the step made.",
           .needs = "Memory events with their operators; stacks for the source line.",
           .saving = fmt::format("Bytes: all of these but one in {}, the piece that is there.", kPieces),
           .held = "Not compared with measurements yet.",
           .fixes = {"chunk"}},
          find};
}

}  // namespace telltale
