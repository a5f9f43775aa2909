// State of an optimizer that could be smaller, or be shared among the ranks, and what its step makes on the way.
#include <fmt/format.h>

#include <optional>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// As bitsandbytes and torchao do it: a number of 32 bits becomes one of 8, with a scale of 32 bits for each block of
// 256; tensors of fewer than 4,096 numbers stay as they are.
constexpr std::int64_t kNumbersPerScale = 256, kLeastNumbers = 4096, kWideBytes = 4;
constexpr double kLeftInEightBits =
    static_cast<double>(kNumbersPerScale + kWideBytes) / static_cast<double>(kNumbersPerScale * kWideBytes);

bool is_state(const UsedBlock& block) { return block.use == MemoryUse::kOptimizerState; }
bool may_be_narrow(const UsedBlock& block) { return is_state(block) && block.bytes >= kLeastNumbers * kWideBytes; }

// Without the lists of tensors that PyTorch's foreach implementations make, each as large as the parameters.
MemoryEdit in_place(const Facts& facts, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_temporary_of_optimizer(facts, block)) edit.scale(block, 0);
  return edit;
}

std::optional<Finding> temporaries_of_step(const Facts& facts, const DeviceCauses& device,
                                           std::span<const UsedBlock> blocks) {
  std::int64_t made = 0;
  for (const UsedBlock& block : device.at_peak) made += is_temporary_of_optimizer(facts, block) ? block.bytes : 0;
  if (!is_worth_freeing(device, made)) return {};
  Finding finding;
  finding.saving_bytes = peak_lowered_by(in_place(facts, blocks), blocks);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.cost = 0;
  finding.title = "The optimizer's temporaries make the peak";
  finding.explanation = fmt::format(
      "The peak is in the optimizer's step, where {} of temporaries stand: PyTorch computes on lists of all parameters "
      "at once (foreach). Without them, the most that stands there at once is {} less.",
      format_bytes(made), format_bytes(finding.saving_bytes));
  finding.confidence = Confidence::kMedium;
  finding.fix = {
      "fused_optimizer",
      "Use fused=True, which updates each parameter in one kernel and makes none. Where the optimizer has no "
      "such form, foreach=False makes those of one parameter at a time, with more launches.",
      "- opt = torch.optim.AdamW(model.parameters())\n+ opt = torch.optim.AdamW(model.parameters(), "
      "fused=True)"};
  return finding;
}

std::int64_t ranks_of(const Trace& trace) { return trace.distributed ? trace.distributed->world_size.value_or(1) : 1; }

Finding about(const DeviceCauses& device, std::int64_t state, std::int64_t freed) {
  Finding finding;
  finding.saving_bytes = freed;
  finding.explanation =
      fmt::format("The optimizer keeps {}, {} of the peak.", format_bytes(state),
                  format_percent(100.0 * static_cast<double>(state) /
                                 static_cast<double>(std::max<std::int64_t>(device.peak.allocated, 1))));
  finding.confidence = Confidence::kMedium;
  return finding;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const std::int64_t state = bytes_for(device, MemoryUse::kOptimizerState);
  std::vector<Finding> findings;
  const std::int64_t ranks = ranks_of(facts.trace);
  if (const std::int64_t freed = ranks < 2 ? 0 : state - state / ranks; is_worth_freeing(device, freed)) {
    Finding finding = about(device, state, freed);
    finding.title = "Every rank keeps the whole state of the optimizer";
    finding.explanation += fmt::format(" Each of {} ranks needs a share of it only.", ranks);
    finding.fix = {"shard_optimizer",
                   "Shard it among the ranks: ZeroRedundancyOptimizer, or fully_shard for parameters and gradients as "
                   "well.",
                   "- opt = torch.optim.AdamW(model.parameters())\n+ opt = ZeroRedundancyOptimizer(model.parameters(), "
                   "optimizer_class=torch.optim.AdamW)"};
    findings.push_back(std::move(finding));
  }
  std::int64_t wide = 0;
  for (const UsedBlock& block : device.at_peak) wide += may_be_narrow(block) ? block.bytes : 0;
  const std::int64_t freed = wide - static_cast<std::int64_t>(kLeftInEightBits * static_cast<double>(wide));
  if (device.peak.device != kHost && is_worth_freeing(device, freed)) {
    Finding finding = about(device, state, freed);
    finding.title = "The optimizer keeps its state in 32 bits";
    finding.explanation += " In 8 bits a number, with scales, a quarter of that is enough.";
    finding.confidence = Confidence::kLow;
    finding.fix = {"smaller_optimizer_state",
                   "Use an optimizer with 8-bit state (bitsandbytes.optim.AdamW8bit, torchao's AdamW8bit). It changes "
                   "the numbers a little: compare the loss.",
                   "- opt = torch.optim.AdamW(model.parameters())\n+ opt = bnb.optim.AdamW8bit(model.parameters())"};
    findings.push_back(std::move(finding));
  }
  if (auto finding = temporaries_of_step(facts, device, blocks)) findings.push_back(std::move(*finding));
  return findings;
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding& finding, std::span<const UsedBlock> blocks) {
  if (finding.fix.id == "fused_optimizer") return in_place(facts, blocks);
  const bool is_sharded = finding.fix.id == "shard_optimizer";
  const double left = is_sharded ? 1 / static_cast<double>(ranks_of(facts.trace)) : kLeftInEightBits;
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_sharded ? is_state(block) : may_be_narrow(block)) edit.scale(block, left);
  return edit;
}

}  // namespace

MemoryRule memory_rules::optimizer_memory() {
  return {
      {.title = "State of the optimizer",
       .looks_for = "State of the optimizer that stands at the peak, and temporaries of its step where that makes it.",
       .needs = "Memory events from the first step on, or notes of the program's tensors; the number of ranks for "
                "sharding.",
       .saving =
           fmt::format("Bytes: {:.1f} % of tensors of {} KiB or more in 8 bits, which takes 8 bits for 32 "
                       "and a scale of 32 for each {} numbers, as bitsandbytes and torchao do it; sharded, "
                       "all but the share of one rank. That the state is in 32 bits is assumed. Of temporaries, how "
                       "much lower the peak is without any, as fused optimizers make none.",
                       100 * (1 - kLeftInEightBits), kLeastNumbers * kWideBytes / 1024, kNumbersPerScale),
       .held = "Of the fused optimizer, predicted and measured on a CPU, in MiB: 7.8 and 7.8, 24 and 24. Of the others "
               "nothing was compared yet.",
       .fixes = {"shard_optimizer", "smaller_optimizer_state", "fused_optimizer"}},
      find,
      edit};
}

}  // namespace telltale
