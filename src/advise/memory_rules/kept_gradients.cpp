// Gradients of the step before that are still there while the forward pass fills the memory.
#include <fmt/format.h>

#include "advise/memory_rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device) {
  if (!facts.trains || !peaks_in_forward(facts, device)) return {};
  Finding finding;
  finding.saving_bytes = bytes_for(device, MemoryUse::kGradients);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.cost = 0;
  finding.title = "Gradients of the last step stay during the forward pass";
  finding.explanation =
      fmt::format("The peak is in the forward pass, and {} of gradients are there, though the optimizer has used them.",
                  format_bytes(finding.saving_bytes));
  finding.fix = {"free_gradients",
                 "Free the gradients right behind the optimizer's step, and set them to None in place of zero. Where "
                 "gradients of several batches are added up, this is how it has to be.",
                 "  opt.step()\n+ opt.zero_grad(set_to_none=True)"};
  return {finding};
}

}  // namespace

MemoryRule memory_rules::kept_gradients() {
  return {{.title = "Gradients kept too long",
           .looks_for = "A peak in the forward pass, at which gradients stand.",
           .needs = "Memory events of a training step.",
           .saving = "Bytes: all gradients at the peak, as the peak moves to the backward pass only where that holds "
                     "more. It costs no time.",
           .held = "Not compared with measurements yet.",
           .fixes = {"free_gradients"}},
          find};
}

}  // namespace telltale
