// The same kernels run step after step, and the host launches each of them anew.
#include <fmt/format.h>

#include "advise/models/compile_model.h"
#include "advise/models/graph_model.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kLeastPercent = 5;
constexpr double kUncertainty = 0.2;

std::vector<Finding> find(const Facts& facts) {
  // A backward pass can be captured only together with its optimizer and fixed inputs, which torch.compile does better.
  if (!facts.diagnosis.breakdown.has_device || facts.compile_model().has_backward()) return {};
  const std::optional<Edit> edit = captured_in_graph(facts);
  if (!edit) return {};
  const Nanoseconds likely = facts.saved_by(*edit);
  if (facts.percent_of_step(likely) < kLeastPercent) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(*edit);
  finding.reach = changed_by(facts, *edit);
  finding.confidence = Confidence::kHigh;
  const double kernels = static_cast<double>(facts.diagnosis.kernels.calls.size()) / facts.steps();
  finding.title = "Every step launches the same kernels one by one";
  finding.explanation = fmt::format(
      "All {} recorded steps launch the same kernels in the same order ({} per step) and never wait for the GPU, so "
      "one CUDA graph can launch them all.",
      format_number(facts.steps()), format_number(kernels));
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (finding.evidence.size() == Finding::kMaxEvidence) break;
    finding.evidence.push_back(call.event);
  }
  if (!finding.evidence.empty()) finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = graph_fix();
  return {finding};
}

}  // namespace

Rule rules::cuda_graph_candidate() {
  return {
      {.title = "Steps that one CUDA graph could launch",
       .looks_for = "Steps without a backward pass that launch the same kernels in the same order, never wait for the "
                    "GPU and never allocate GPU memory.",
       .needs =
           fmt::format("CPU and CUDA activities; at least {} steps, to compare their kernels.", kLeastStepsOfGraph),
       .cannot_do_without = {{Need::kDevice}},
       .saving = "The steps are replayed with all kernels as nodes of one graph, launched once per step.",
       .held =
           "Merged with launch_bound, which proposes the same: predicted 85 %, measured 89 % (decode_launch_bound).",
       .fixes = {"cuda_graph"}},
      find};
}

}  // namespace telltale
