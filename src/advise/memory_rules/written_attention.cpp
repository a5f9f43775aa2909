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

bool is_made_in_step(const UsedBlock& block) {
  return block.event != kNoEvent && !block.is_left_behind &&
         (block.use == MemoryUse::kActivations || block.use == MemoryUse::kTemporaries);
}

// Blocks that hold scores, of those that outputs of a softmax among `blocks` have the size of.
class Scores {
 public:
  Scores(const Trace& trace, std::span<const UsedBlock> blocks) : trace_(trace) {
    for (const UsedBlock& block : blocks) {
      if (!is_made_in_step(block)) continue;
      const EventId op = maker_of(trace, block.event);
      if (!is_softmax(trace.name(op))) continue;
      sizes_.insert(block.bytes);
      outputs_.push_back(op);
    }
  }

  const std::vector<EventId>& outputs() const { return outputs_; }  // operators that made those of a softmax

  bool contain(const UsedBlock& block) const {
    if (!is_made_in_step(block) || !sizes_.contains(block.bytes)) return false;
    const std::string_view op = trace_.name(maker_of(trace_, block.event));
    return is_softmax(op) || is_beside_softmax(op);
  }

 private:
  const Trace& trace_;
  std::set<std::int64_t> sizes_;
  std::vector<EventId> outputs_;
};

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock>) {
  const Scores scores(facts.trace, device.at_peak);
  if (scores.outputs().empty()) return {};
  Finding finding;
  finding.evidence = scores.outputs();
  for (const UsedBlock& block : device.at_peak)
    if (scores.contain(block)) finding.saving_bytes += block.bytes;
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

MemoryEdit edit(const Facts& facts, const DeviceCauses& device, const Finding&, std::span<const UsedBlock> blocks) {
  const Scores scores(facts.trace, device.at_peak);
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (scores.contain(block)) edit.scale(block, 0);
  return edit;
}

}  // namespace

MemoryRule memory_rules::written_attention() {
  return {{.title = "Attention's scores in memory",
           .looks_for = "Outputs of a softmax, not of the loss's log_softmax, that stand at the peak, and blocks of "
                        "their size that products, masks, scales and dropout made.",
           .needs = "Memory events with their operators; stacks for the source line.",
           .saving = "Bytes: all of these. Time is the matter of unfused_attention.",
           .held = "Predicted and measured, in MiB: 2,304 and 2,523, in a program made for it on an H200.",
           .fixes = {"sdpa"}},
          find,
          edit};
}

}  // namespace telltale
