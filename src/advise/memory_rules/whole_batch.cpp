// What grows with the batch, and would be half with half of it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

bool is_of_model(MemoryUse use) {
  return use == MemoryUse::kParameters || use == MemoryUse::kGradients || use == MemoryUse::kOptimizerState;
}

// What the forward pass keeps grows with the batch, and so does what is made and freed again on the way. Of the latter,
// what has the size of something of the model may be its gradient, and is left out. Inputs are given as a whole to the
// code of the fix, which cuts them.
class GrowsWithBatch {
 public:
  GrowsWithBatch(const Facts& facts, std::span<const UsedBlock> blocks) : facts_(facts) {
    for (const UsedBlock& block : blocks)
      if (is_of_model(block.use)) sizes_of_model_.insert(block.bytes);
  }

  bool operator()(const UsedBlock& block) const {
    if (block.is_left_behind || block.allocated == UsedBlock::kBeforeTheTrace) return false;
    if (block.use == MemoryUse::kActivations) return true;
    return block.use == MemoryUse::kTemporaries && !sizes_of_model_.contains(block.bytes) &&
           !is_temporary_of_optimizer(facts_, block);
  }

 private:
  const Facts& facts_;
  std::set<std::int64_t> sizes_of_model_;
};

// Blocks come by when they were made. Each recorded pass becomes the second of two with half the batch, when the
// gradients of the first are there from its beginning.
MemoryEdit in_halves(const Facts& facts, std::span<const UsedBlock> blocks) {
  const GrowsWithBatch grows(facts, blocks);
  MemoryEdit edit;
  std::optional<Nanoseconds> pass;  // when its first activation was made
  bool is_backward = false;
  for (const UsedBlock& block : blocks) {
    if (grows(block)) edit.scale(block, 0.5);
    if (block.use == MemoryUse::kActivations && (!pass || is_backward)) {
      pass = block.allocated;
      is_backward = false;
    }
    if (block.use != MemoryUse::kGradients) continue;
    is_backward = true;
    if (pass && *pass < block.allocated) edit.make_earlier(block, *pass);
  }
  return edit;
}

// Each gradient of the second half is made beside that of the first, and freed as soon as it is added to it.
std::vector<UsedBlock> with_second_gradients(std::span<const UsedBlock> blocks) {
  std::vector<UsedBlock> all(blocks.begin(), blocks.end());
  for (const UsedBlock& block : blocks) {
    if (block.use != MemoryUse::kGradients || block.allocated == UsedBlock::kBeforeTheTrace) continue;
    UsedBlock second = block;
    second.address = 0;  // no edit knows it
    second.freed = second.allocated + 1;
    all.push_back(second);
  }
  std::ranges::stable_sort(all, {}, &UsedBlock::allocated);
  return all;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  // Only what runs backward keeps activations, and has gradients to add up.
  if (bytes_for(device, MemoryUse::kActivations) == 0) return {};
  const GrowsWithBatch grows(facts, blocks);
  std::int64_t of_batch = 0;
  for (const UsedBlock& block : device.at_peak) of_batch += grows(block) ? block.bytes : 0;
  Finding finding;
  const std::int64_t whole = edited_peak(blocks, {}).allocated;
  const std::int64_t halves = edited_peak(with_second_gradients(blocks), in_halves(facts, blocks)).allocated;
  finding.saving_bytes = std::max<std::int64_t>(0, whole - halves);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.title = "The whole batch is computed at once";
  finding.explanation = fmt::format(
      "{} of the peak grow with the batch. Two halves one after the other give the same gradients. The most that "
      "stands there at once is {} less, with the gradients of the first half kept during the second. Small batches use "
      "a device less well: measure what that costs.",
      format_bytes(of_batch), format_bytes(finding.saving_bytes));
  finding.confidence = Confidence::kMedium;
  finding.fix = {"accumulate", "Halve the batch and add up the gradients of two before the optimizer's step.",
                 "- loss(model(x), y).backward()\n"
                 "+ for a, b in zip(x.chunk(2), y.chunk(2)):\n+     (loss(model(a), b) / 2).backward()"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding&, std::span<const UsedBlock> blocks) {
  return in_halves(facts, blocks);
}

}  // namespace

MemoryRule memory_rules::whole_batch() {
  return {{.title = "The batch at once",
           .looks_for = "Activations, and what is made and freed again on the way: they grow with the batch.",
           .needs = "Memory events of a training step.",
           .saving = "Bytes: how much lower the peak is when all of these take half; where others then stand highest, "
                     "as in the optimizer's step, it is less than half of them. What has the size of a parameter and "
                     "is no activation may be a gradient, and stays as it is; so do inputs, which the code of the "
                     "fix cuts, and what leaks. The gradients of the first half are there from the beginning of the "
                     "second, and each of the second is made beside its first one. What it costs in time depends on "
                     "how well the device is used by half a batch, which the trace does not tell.",
           .held = "Predicted and measured with two halves, in MiB: 441 and 444, in a program made for it on an H200; "
                   "on a CPU 7.0 and 7.0, 44 and 44, 39 and 35, 39 and 40; 1.5 and 1.5, 18 and 18 where nothing but "
                   "zero_grad() needs the gradients.",
           .fixes = {"accumulate"}},
          find,
          edit};
}

}  // namespace telltale
