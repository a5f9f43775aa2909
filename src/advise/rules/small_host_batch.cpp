// On a CPU, what operators cost by themselves is most of the step: a larger batch would cost little more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "advise/models/host_batch_model.h"
#include "advise/models/host_cost.h"
#include "advise/patterns/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.15;

// The operators that take longest, the longest first; of equal ones the earliest.
std::vector<EventId> longest_of(const Facts& facts, const std::vector<EventId>& ops) {
  std::vector<EventId> longest(std::min(ops.size(), Finding::kMaxEvidence));
  const auto comes_first = [&](EventId a, EventId b) {
    return std::pair(facts.trace.events.duration[b], a) < std::pair(facts.trace.events.duration[a], b);
  };
  std::ranges::partial_sort_copy(ops, longest, comes_first);
  return longest;
}

Fix fix_for(const Facts& facts, std::optional<std::int64_t> batch, int growth) {
  const std::string now = batch ? std::to_string(*batch) : "n";
  const std::string then = batch ? std::to_string(*batch * growth) : fmt::format("{} * n", growth);
  if (facts.trains)
    return {
        "larger_batch",
        "Use larger batches and check the learning rate; where gradients are accumulated, use fewer, larger batches.",
        fmt::format("- loader = DataLoader(data, batch_size={})\n+ loader = DataLoader(data, batch_size={})", now,
                    then)};
  return {"larger_batch", "Compute more samples at once: batch the requests that wait.",
          fmt::format("- answers = model(requests[:{}])\n+ answers = model(requests[:{}])", now, then)};
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.diagnosis.breakdown.has_device || !facts.trace.recorded.shapes) return {};
  // A whole trace that counts as one step says nothing about a batch; a loop over rows takes longer the more there are.
  if (facts.diagnosis.timing.source == StepSource::kWhole || !facts.row_loops().empty()) return {};
  const std::vector<EventId>& ops = facts.host_cost().leaves();
  if (ops.empty()) return {};
  const HostBatchModel model(facts);
  if (model.growth() == 1) return {};

  Finding finding;
  finding.saving = saving_around(facts, model.saved(), kUncertainty);
  finding.edit = facts.kept_for_batch(model.grown(model.growth()), model.growth());
  finding.reach = model.fixed_events();
  finding.confidence = Confidence::kMedium;
  const double calls = std::round(static_cast<double>(ops.size()) / facts.steps());
  finding.evidence = longest_of(facts, ops);
  finding.title = "The batch is too small: a step is mostly overhead";
  const std::optional<std::int64_t> batch = model.batch();
  const std::string at = batch ? fmt::format("a batch of {} instead of {}", *batch * model.growth(), *batch)
                               : fmt::format("{} times the batch", model.growth());
  finding.explanation = fmt::format(
      "{} of the step is the same for any batch: dispatching {}{} and Python. At {}, each {} "
      "would take {} less.",
      format_percent(model.fixed_percent()), counted(calls, "operator"),
      facts.trains ? ", autograd, the optimizer" : "", at, facts.trains ? "sample" : "request",
      format_percent(facts.percent_of_step(finding.saving.likely)));
  finding.fix = fix_for(facts, batch, model.growth());
  return {finding};
}

}  // namespace

Rule rules::small_host_batch() {
  return {
      {.title = "A batch that leaves a CPU with overhead",
       .looks_for = fmt::format("Steps without a GPU in which a sample costs at least {} % less at twice the batch.",
                                HostBatchModel::kLeastPercentOfDoubling),
       .needs = "Shapes, where there is no GPU.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed at 2 to {} times the batch, as long as each doubling pays: loading, the user's "
           "own Python and what operators do with their data take as many times as long ({:.0f} billion operations "
           "and {:.0f} billion bytes per second and thread, or all but {} of an operator), everything else as long "
           "as now. The saving is that of one sample, as a share of the step.",
           HostBatchModel::kMostGrowth, HostCost::kFlopsPerSecond / 1e9, HostCost::kBytesPerSecond / 1e9,
           format_time(HostCost::kMostFixed)),
       .held = "Samples of four networks (two of linear layers, a convolutional one, a transformer) took 92, 91, 68 "
               "and 74 % less at a batch of 64 than at one of 4.",
       .fixes = {"larger_batch"}},
      find};
}

}  // namespace telltale
