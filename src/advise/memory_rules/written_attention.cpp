// Attention whose scores are written to memory: heads × T × T numbers for every layer.
#include <fmt/format.h>

#include <set>

#include "advise/memory_rule.h"
#include "analysis/memory_summary.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of attention; the softmax of a loss is log_softmax. What has its size and comes from the operators before and behind
// it are the scores themselves, masked, scaled or dropped out.
bool is_softmax(std::string_view op) { return op == "aten::_softmax" || op == "aten::softmax"; }
bool is_beside_softmax(std::string_view op) {
  constexpr std::string_view kNames[] = {
      "aten::bmm",         "aten::matmul", "aten::baddbmm",        "aten::div",     "aten::mul",      "aten::add",
      "aten::masked_fill", "aten::where",  "aten::native_dropout", "aten::dropout", "aten::_to_copy", "aten::clone",
      "aten::bernoulli_"};
  return std::ranges::find(kNames, op) != std::end(kNames);
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device) {
  const auto is_kept = [](const UsedBlock& block) {
    return block.event != kNoEvent && (block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries);
  };
  std::set<std::int64_t> sizes;
  Finding finding;
  for (const UsedBlock& block : device.at_peak) {
    if (!is_kept(block)) continue;
    const EventId op = maker_of(facts.trace, block.event);
    if (!is_softmax(facts.trace.name(op))) continue;
    sizes.insert(block.bytes);
    finding.evidence.push_back(op);
  }
  if (finding.evidence.empty()) return {};
  for (const UsedBlock& block : device.at_peak) {
    if (!is_kept(block) || !sizes.contains(block.bytes)) continue;
    const std::string_view op = facts.trace.name(maker_of(facts.trace, block.event));
    if (is_softmax(op) || is_beside_softmax(op)) finding.saving_bytes += block.bytes;
  }
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Attention writes its scores to memory";
  finding.explanation = fmt::format(
      "At the peak, {} are scores of attention, a number for each head and each pair of positions: {} of a softmax, "
      "and "
      "what has their size around it. Fused attention never writes them.",
      format_bytes(finding.saving_bytes), counted(static_cast<double>(finding.evidence.size()), "output"));
  finding.fix = {
      "sdpa", "Use torch.nn.functional.scaled_dot_product_attention, or attn_implementation=\"sdpa\" in transformers.",
      "- y = (q @ k.transpose(-2, -1) * scale).softmax(-1) @ v\n"
      "+ y = F.scaled_dot_product_attention(q, k, v)"};
  return {finding};
}

}  // namespace

MemoryRule memory_rules::written_attention() {
  return {{.title = "Attention's scores in memory",
           .looks_for = "Outputs of a softmax, not of the loss's log_softmax, that stand at the peak, and blocks of "
                        "their size that products, masks, scales and dropout made.",
           .needs = "Memory events with their operators; stacks for the source line.",
           .saving = "Bytes: all of these. Time is the matter of unfused_attention.",
           .held = "Not compared with measurements yet.",
           .fixes = {"sdpa"}},
          find};
}

}  // namespace telltale
