// Memory that PyTorch's allocator holds and nobody uses, and that another setting would not hold.
#include <fmt/format.h>

#include "advise/memory_rule.h"
#include "base/amounts.h"
#include "memory/fragmentation.h"

namespace telltale {
namespace {

constexpr double kLeastShareOfReserved = 0.05;
constexpr std::string_view kVariable = "PYTORCH_CUDA_ALLOC_CONF=";

Fix fix_for(const SettingEffect& effect) {
  if (effect.change.contains("empty_cache"))
    return {"keep_cache",
            "Remove the calls of torch.cuda.empty_cache(): what they give back is fetched again, in pieces that fit "
            "less well.",
            "- torch.cuda.empty_cache()"};
  return {effect.change.starts_with("expandable_segments") ? "expandable_segments" : "allocator_settings",
          "Set it in the environment, before the program touches the device.", std::string(kVariable) + effect.change};
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock>) {
  if (!device.fragmentation) return {};
  const Fragmentation& lost = *device.fragmentation;
  const std::int64_t unused = lost.totals.reserved - lost.totals.requested;
  const double least = kLeastShareOfReserved * static_cast<double>(lost.totals.reserved);
  if (static_cast<double>(unused) < least) return {};
  const AllocatorRequests requests = allocator_requests(facts.trace, device.peak.device);
  if (!check_simulation(facts.trace, requests).holds()) return {};
  const auto effects = settings_that_help(facts.trace, requests);
  if (effects.empty() || static_cast<double>(effects.front().saving_bytes) < least) return {};
  const SettingEffect& best = effects.front();
  Finding finding;
  finding.saving_bytes = best.saving_bytes;
  finding.cost = 0;
  finding.title = fmt::format("The allocator reserves {} that no tensor uses", format_bytes(unused));
  finding.explanation = fmt::format(
      "When most is reserved, {} are free beside live blocks, {} in free segments that are too small, {} in those of "
      "other streams and pools, and {} are lost to rounding. Replayed with {}, the same requests need {} at most.",
      format_bytes(lost.hard_bytes), format_bytes(lost.soft_bytes), format_bytes(lost.stream_bytes),
      format_bytes(lost.rounding_bytes), best.change, format_bytes(best.peak_reserved));
  finding.fix = fix_for(best);
  return {finding};
}

// The settings stand in the code of the fix.
MemoryEdit edit(const Facts&, const DeviceCauses&, const Finding& finding, std::span<const UsedBlock>) {
  MemoryEdit edit;
  if (finding.fix.id == "keep_cache")
    edit.keeps_cache = true;
  else
    edit.settings = finding.fix.code.substr(kVariable.size());
  return edit;
}

}  // namespace

MemoryRule memory_rules::allocator_settings() {
  return {
      {.title = "Settings of the allocator",
       .looks_for = fmt::format("Memory that the allocator reserves and no tensor uses, {:.0f} % or more of what it "
                                "reserves at most, where a setting would save as much. Silent where the simulated "
                                "allocator misses the recorded peak by more than {:.0f} %.",
                                100 * kLeastShareOfReserved, 100 * SimulationCheck::kMostMiss),
       .needs = "The allocator's log: a memory snapshot with history, or record --memory on a GPU.",
       .saving = "Bytes: the peak of what is reserved under the recorded settings, simulated, less that under the "
                 "best of the others.",
       .held = "Predicted and measured, in MiB: 3,130 and 3,130, in a program made for it on an H200.",
       .fixes = {"expandable_segments", "keep_cache", "allocator_settings"}},
      find,
      edit};
}

}  // namespace telltale
