// Kernels too small for the device, in a step that waits for the device.
#include <fmt/format.h>

#include "advise/models/batch_model.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the time in kernels.
constexpr double kLeastShare = 0.2;
// Where the device waits for the host, empty multiprocessors hold nothing up: it must be at work for half of the step.
constexpr double kLeastBusy = 0.5;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const BatchGrowth growth(facts);
  CallSum all(facts), small(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (trace.events.kind[call.event] != Kind::kKernel || call.work == WorkClass::kCommunication) continue;
    all.add(call.event);
    if (growth.leaves_room(call) && !growth.moves_parameters(call)) small.add(call.event);
  }
  if (static_cast<double>(small.total()) <= kLeastShare * static_cast<double>(all.total())) return {};
  if (static_cast<double>(facts.diagnosis.timing.device_period) < kLeastBusy * static_cast<double>(facts.step))
    return {};
  // A loop over rows takes longer the more rows there are.
  if (!has_memory_for_doubled_batch(facts).value_or(true) || !facts.row_loops().empty()) return {};
  const Nanoseconds likely = saved_by_doubled_batch(facts);
  if (facts.percent_of_step(likely) < kLeastPercentOfLargerBatch) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept_for_batch(doubled_batch(facts), 2);
  finding.reach = unchanged_by_doubled_batch(facts);
  finding.confidence = Confidence::kMedium;
  finding.evidence = small.longest();
  finding.source = source_line(trace, finding.evidence.front());
  finding.title = "Kernels are too small for the GPU";
  finding.explanation = fmt::format(
      "Kernels with fewer than {} blocks per multiprocessor, or with too few rows to fill a tile, take {}; at twice "
      "the batch they would take little longer, and each {} {} less.",
      format_number(BatchGrowth::kMostGrowthWithRoom - 1), time_and_share(facts, small.time_per_step()),
      facts.trains ? "sample" : "request", format_percent(facts.percent_of_step(likely)));
  finding.fix = larger_batch_fix(facts);
  return {finding};
}

}  // namespace

Rule rules::underfilled_gpu() {
  return {{.title = "Kernels too small for the GPU",
           .looks_for =
               fmt::format("Kernels with fewer than {} blocks per multiprocessor, and matrix products of so few rows "
                           "that they wait for their weights, for more than {:.0f} % of the time in kernels, in steps "
                           "that keep the GPU busy for {:.0f} % or more.",
                           format_number(BatchGrowth::kMostGrowthWithRoom - 1), 100 * kLeastShare, 100 * kLeastBusy),
           .needs = "CPU and CUDA activities; shapes to know the rows of products; memory events or gauges to know "
                    "whether a larger batch fits.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed at twice the batch: see small_batch.",
           .held = "Predicted and measured savings, in percent of the step: 45 and 48 (few_queries_many_items), 46 and "
                   "47 (recurrent_tagger), 44 and 41 (gradients_set_to_zero).",
           .fixes = {"larger_batch"}},
          find};
}

}  // namespace telltale
