// The model runs operator by operator: a compiler would fuse its kernels and launch them at less cost.
#include <fmt/format.h>

#include <algorithm>

#include "advise/models/compile_model.h"
#include "advise/rule.h"

namespace telltale {
namespace {

// Below this, compile time, guards and the risk of a break are not worth it.
constexpr double kLeastPercent = 5;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  if (!model.applies()) return {};
  const Nanoseconds plain = model.saved();
  const Nanoseconds graphs = model.saved_with_graphs();
  // CUDA graphs fix all addresses and shapes: not where the host has time to spare.
  const bool wants_graphs = graphs >= plain && model.may_want_graphs();
  const Nanoseconds likely = wants_graphs ? graphs : plain;
  if (facts.percent_of_step(likely) < kLeastPercent) return {};
  if (!wants_graphs && model.has_telling_chains()) return {};  // unfused_elementwise speaks of them

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
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
  if (kernels > 0)
    finding.explanation =
        fmt::format("{:.0f} kernels a step only move memory and would become {:.0f}, {:.3g} ms of GPU time less.",
                    static_cast<double>(kernels) / facts.steps(), static_cast<double>(chains.size()) / facts.steps(),
                    static_cast<double>(fused) / facts.steps() / 1e6);
  if (!facts.is_device_bound())
    finding.explanation.append(kernels > 0 ? " " : "")
        .append("The host, which the GPU waits for, would launch its kernels at less cost.");
  if (wants_graphs)
    finding.fix = {"compile_graphs", "Compile the model, with CUDA graphs so that a step is a few launches.",
                   "+ model = torch.compile(model, mode=\"reduce-overhead\")"};
  else
    finding.fix = {"compile", "Compile the model.", "+ model = torch.compile(model)"};
  return {finding};
}

}  // namespace

Rule rules::compile_candidate() {
  return {{.title = "An eager model that torch.compile would speed up",
           .looks_for = "Kernels in a row that only move memory, products of odd widths, convolutions in the wrong "
                        "layout, and host time per launch; programs that are compiled already, or that wait for the "
                        "device within the forward pass, are left out.",
           .needs = "CPU and CUDA activities; shapes tell which kernels work on the same tensor.",
           .saving = "The steps are replayed with each chain of kernels as one (its longest kernel, and 12 % of the "
                     "others), products padded, layouts right, and host time in the model halved, or, with graphs, "
                     "gone but for a fixed cost a step.",
           .held = "In 10 programs the median error was 8.9 points of the step, the largest 15 (eager_attention: "
                   "promised 52, gained 66).",
           .fixes = {"compile_graphs", "compile"}},
          find};
}

}  // namespace telltale
