// What grows with the batch, and would be half with half of it.
#include <fmt/format.h>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

bool is_of_batch(const UsedBlock& block) {
  return block.use == MemoryUse::kActivations || block.use == MemoryUse::kInputs;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock>) {
  const std::int64_t of_batch = bytes_for(device, MemoryUse::kActivations) + bytes_for(device, MemoryUse::kInputs);
  Finding finding;
  finding.saving_bytes = of_batch / 2;
  if (!facts.trains || !is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.title = "The whole batch is computed at once";
  finding.explanation = fmt::format(
      "{} of the peak grow with the batch. Two halves one after the other need half of that, and give the same "
      "gradients. Small batches use a device less well: measure what that costs.",
      format_bytes(of_batch));
  finding.confidence = Confidence::kMedium;
  finding.fix = {"accumulate", "Halve the batch and add up the gradients of two before the optimizer's step.",
                 "- loss(model(x), y).backward()\n"
                 "+ for a, b in zip(x.chunk(2), y.chunk(2)):\n+     (loss(model(a), b) / 2).backward()"};
  return {finding};
}

MemoryEdit edit(const Facts&, const DeviceCauses&, const Finding&, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_of_batch(block)) edit.scale(block, 0.5);
  return edit;
}

}  // namespace

MemoryRule memory_rules::whole_batch() {
  return {{.title = "The batch at once",
           .looks_for = "Activations and inputs that stand at the peak.",
           .needs = "Memory events of a training step.",
           .saving = "Bytes: half of these. What it costs in time depends on how well the device is used by half a "
                     "batch, which the trace does not tell.",
           .held = "Predicted and measured, in MiB: 433 and 444, in a program made for it on an H200.",
           .fixes = {"accumulate"}},
          find,
          edit};
}

}  // namespace telltale
