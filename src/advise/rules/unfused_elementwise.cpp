// Chains of kernels that only move memory, each reading what the one before it wrote.
#include <fmt/format.h>

#include <algorithm>

#include "advise/models/compile_advice.h"
#include "advise/models/compile_model.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  const FusedChain* const worst = worst_telling_chain(model);
  if (worst == nullptr) return {};
  std::size_t count = 0, kernels = 0;
  for (const FusedChain& chain : model.chains()) {
    if (chain.kernels.size() < kLeastKernelsOfChain) continue;
    ++count;
    kernels += chain.kernels.size();
  }

  // What compiling buys: the fix fuses the chains, and does the rest as well.
  CompileAdvice advice = compile_advice(facts);
  Finding finding;
  finding.saving = saving_around(facts, advice.saved, kUncertainty);
  finding.edit = facts.kept(advice.edit);
  finding.reach = changed_by(facts, advice.edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = worst->kernels;
  finding.source = source_line(facts.trace, worst->kernels.front());
  finding.title = "Chains of small operations pass through GPU memory";
  const auto per_step = [&](std::size_t all) { return static_cast<double>(all) / facts.steps(); };
  finding.explanation = fmt::format(
      "Each kernel of a chain reads what the one before it wrote ({} in {} per step); as one kernel, a chain would "
      "move each tensor only once.",
      counted(per_step(kernels), "kernel"), counted(per_step(count), "chain"));
  finding.explanation += fmt::format(" Fusing them would save {} of the step.",
                                     format_percent(facts.percent_of_step(model.saved_by_fusing())));
  if (!advice.amounts.empty()) finding.explanation.append(" ").append(advice.amounts);
  finding.fix = std::move(advice.fix);
  return {finding};
}

}  // namespace

Rule rules::unfused_elementwise() {
  return {{.title = "Chains of memory-bound kernels",
           .looks_for = fmt::format("{} or more kernels in a row, between matrix products, that only move memory and "
                                    "work on tensors of one size.",
                                    kLeastKernelsOfChain),
           .needs = "CPU and CUDA activities; shapes tell which kernels work on the same tensor.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = fmt::format("The steps are replayed as torch.compile would run them: see compile_candidate. Left "
                                 "out where fusing the chains alone saves less than {} %.",
                                 CompileModel::kLeastPercentOfChains),
           .held = "In 23 programs the median error was 1.8 points of the step and the largest 16 (own_attention: "
                   "predicted 46, measured 61).",
           .fixes = {"compile", "compile_graphs"}},
          find};
}

}  // namespace telltale
