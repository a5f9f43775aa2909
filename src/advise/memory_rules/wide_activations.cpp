// Activations in float32 where 16 bits would do.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "advise/memory_rule.h"
#include "analysis/memory_summary.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What autocast runs in 16 bits, below the operators whose arguments it casts.
constexpr std::string_view kProducts[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::convolution"};

bool has_narrow_types(std::string_view types) {
  return types.contains("BFloat16") || types.contains("Half") || types.contains("Float8");
}

// Whether the program runs under autocast already, or has its weights in 16 bits: most of its products read such
// arguments. What is in float32 then, as softmax, norms and losses, autocast would leave so.
bool multiplies_in_16_bits(const Trace& trace) {
  std::size_t narrow = 0, known = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kOperator) continue;
    if (std::ranges::find(kProducts, trace.name(event)) == std::end(kProducts)) continue;
    const std::string_view types = texts_of(trace, event).types;
    known += types.empty() ? 0 : 1;
    narrow += has_narrow_types(types) ? 1 : 0;
  }
  return 2 * narrow > known;
}

// As the operator's own arguments say it: some are float32, and none is narrower.
bool is_float32(const Facts& facts, EventId op) {
  const std::string_view types = texts_of(facts.trace, op).types;
  return types.contains("\"float\"") && !has_narrow_types(types);
}

bool is_wide(const Facts& facts, const UsedBlock& block) {
  return block.use == MemoryUse::kActivations && block.event != kNoEvent &&
         is_float32(facts, maker_of(facts.trace, block.event));
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock>) {
  if (multiplies_in_16_bits(facts.trace)) return {};
  std::int64_t wide = 0;
  Finding finding;
  for (const UsedBlock& block : device.at_peak) {
    if (!is_wide(facts, block)) continue;
    wide += block.bytes;
    if (finding.evidence.size() < Finding::kMaxEvidence) finding.evidence.push_back(maker_of(facts.trace, block.event));
  }
  finding.saving_bytes = wide / 2;
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Activations are kept in float32";
  finding.explanation = fmt::format(
      "At the peak, {} of what is kept for the backward pass comes from operators that compute in float32. "
      "In 16 bits it takes half.",
      format_bytes(wide));
  finding.confidence = Confidence::kMedium;
  finding.fix = {"bf16", "Run the forward pass under autocast: parameters stay in float32, most activations take half.",
                 "+ with torch.autocast(device_type, dtype=torch.bfloat16):\n      loss = model(x, y)"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding&, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_wide(facts, block)) edit.scale(block, 0.5);
  return edit;
}

}  // namespace

MemoryRule memory_rules::wide_activations() {
  return {
      {.title = "Activations in float32",
       .looks_for = "What stands at the peak for the backward pass and was made by operators with float32 "
                    "arguments and none of 16 bits. Silent where most matrix products and convolutions run in 16 bits "
                    "already.",
       .needs = "Memory events and shapes, which bring the types of arguments; stacks for the source line.",
       .saving = "Bytes: half of it. Autocast keeps some operators in float32, so that it may be less; time is "
                 "the matter of no_mixed_precision.",
       .held = "Predicted and measured, in MiB: 649 and 615, in a program made for it on an H200.",
       .fixes = {"bf16"}},
      find,
      edit};
}

}  // namespace telltale
