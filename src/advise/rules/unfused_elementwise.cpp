// Chains of kernels that only move memory, each reading what the one before it wrote.
#include <fmt/format.h>

#include <algorithm>

#include "advise/models/compile_model.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Two kernels in a row are the rule; a chain is longer.
constexpr std::size_t kLeastKernels = 3;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  if (!model.applies()) return {};
  const FusedChain* worst = nullptr;
  std::size_t count = 0, kernels = 0;
  for (const FusedChain& chain : model.chains()) {
    if (chain.kernels.size() < kLeastKernels) continue;
    ++count;
    kernels += chain.kernels.size();
    if (worst == nullptr || chain.total - chain.fused > worst->total - worst->fused) worst = &chain;
  }
  if (worst == nullptr || !model.has_telling_chains()) return {};

  Finding finding;
  // What compiling buys: the fix fuses the chains, and does the rest as well.
  finding.saving = saving_around(facts, model.saved(), kUncertainty);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = worst->kernels;
  finding.source = source_line(facts.trace, worst->kernels.front());
  finding.title = "Chains of small operations pass through GPU memory";
  const auto per_step = [&](std::size_t all) { return static_cast<double>(all) / facts.steps(); };
  finding.explanation = fmt::format(
      "Each kernel of a chain reads what the one before it wrote ({} in {} per step); as one kernel, a chain would "
      "move each tensor only once.",
      counted(per_step(kernels), "kernel"), counted(per_step(count), "chain"));
  finding.fix = {"compile", "Compile the function that contains them so that each chain becomes one kernel.",
                 "+ @torch.compile\n  def activation(x): ..."};
  return {finding};
}

}  // namespace

Rule rules::unfused_elementwise() {
  return {{.title = "Chains of memory-bound kernels",
           .looks_for = fmt::format("{} or more kernels in a row, between matrix products, that only move memory and "
                                    "work on tensors of one size.",
                                    kLeastKernels),
           .needs = "CPU and CUDA activities; shapes tell which kernels work on the same tensor.",
           .saving = fmt::format("The steps are replayed as torch.compile would run them: see compile_candidate. Left "
                                 "out where fusing the chains alone saves less than {} %.",
                                 CompileModel::kLeastPercentOfChains),
           .held = "In 23 programs the median error was 1.8 points of the step and the largest 16 (own_attention: "
                   "predicted 46, measured 61).",
           .fixes = {"compile"}},
          find};
}

}  // namespace telltale
