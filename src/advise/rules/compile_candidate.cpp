// The model runs operator by operator: a compiler would fuse its kernels and launch them at less cost.
#include <fmt/format.h>

#include <algorithm>

#include "advise/models/compile_advice.h"
#include "advise/models/compile_model.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Below this, compile time, guards and the risk of a break are not worth it.
constexpr double kLeastPercent = 5;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  if (!model.applies() || worst_telling_chain(model) != nullptr) return {};  // unfused_elementwise speaks of chains
  CompileAdvice advice = compile_advice(facts);
  if (facts.percent_of_step(advice.saved) < kLeastPercent) return {};

  Finding finding;
  finding.saving = saving_around(facts, advice.saved, kUncertainty);
  finding.edit = facts.kept(advice.edit);
  finding.reach = changed_by(facts, advice.edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kMedium : Confidence::kLow;
  std::vector<FusedChain> chains = model.chains();
  std::stable_sort(chains.begin(), chains.end(),
                   [](const FusedChain& a, const FusedChain& b) { return a.total - a.fused > b.total - b.fused; });
  Nanoseconds fused = 0;
  std::size_t kernels = 0;
  for (const FusedChain& chain : chains) {
    fused += chain.total - chain.fused;
    kernels += chain.kernels.size();
  }
  if (!chains.empty()) {
    finding.evidence.assign(chains.front().kernels.begin(),
                            chains.front().kernels.begin() +
                                std::min<std::ptrdiff_t>(std::ssize(chains.front().kernels), Finding::kMaxEvidence));
    finding.source = source_line(facts.trace, chains.front().kernels.front());
  }
  finding.title = "The model runs one operator at a time";
  const auto per_step = [&](std::size_t count) { return format_number(static_cast<double>(count) / facts.steps()); };
  if (kernels > 0)
    finding.explanation = fmt::format(
        "Fusing the kernels that only move memory, {} per step into {}, would save {} of GPU time.", per_step(kernels),
        per_step(chains.size()), format_time(static_cast<Nanoseconds>(static_cast<double>(fused) / facts.steps())));
  if (!facts.is_device_bound())
    finding.explanation.append(kernels > 0 ? " " : "")
        .append("The GPU waits for the host, which launches compiled code at a lower cost.");
  if (finding.explanation.empty())
    finding.explanation = "Compiling would pad its matrix products and give its convolutions the layout they want.";
  if (!advice.amounts.empty()) finding.explanation.append(" ").append(advice.amounts);
  finding.fix = std::move(advice.fix);
  return {finding};
}

}  // namespace

Rule rules::compile_candidate() {
  return {
      {.title = "An eager model that torch.compile would speed up",
       .looks_for = "Kernels in a row that only move memory, matrix products of odd widths, convolutions in the "
                    "wrong layout, and host time per launch. Programs that are already compiled, or that wait for "
                    "the GPU within the forward pass, are left out.",
       .needs = "CPU and CUDA activities; shapes tell which kernels work on the same tensor.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed with each chain of kernels as one ({:.0f} % of its longest kernel and {:.0f} % "
           "of the others, or {:.0f} % of norms), products padded, layouts right, and {:.0f} % of the host's time "
           "in the model or, with graphs, none of it but a fixed cost per step.",
           100 * CompileModel::kLongestLeft, 100 * CompileModel::kOthersLeft, 100 * CompileModel::kNormsLeft,
           100 * CompileModel::kHostLeft),
       .held = "In 18 programs the median error was 6.6 points of the step and the largest 15 (launches_that_block: "
               "predicted 52, measured 37).",
       .fixes = {"compile_graphs", "compile"}},
      find};
}

}  // namespace telltale
