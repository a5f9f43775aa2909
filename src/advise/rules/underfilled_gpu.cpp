// Kernels too small for the device, in a step that waits for the device.
#include <fmt/format.h>

#include "advise/batch_growth.h"
#include "advise/batch_model.h"
#include "advise/call_sum.h"
#include "advise/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the time in kernels.
constexpr double kLeastShare = 0.2;
// Twice the batch takes less than this much longer in kernels that are too small.
constexpr float kMostGrowth = 1.5F;
// Where the device waits for the host, empty multiprocessors hold nothing up: it must be at work for half of the step.
constexpr double kLeastBusy = 0.5;
// A larger batch changes training: only where a sample would cost this much less, in percent.
constexpr double kLeastPercent = 15;
// A loop over rows takes longer the more rows there are.
constexpr std::size_t kTurnsOfRowLoop = 10;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const Trace& trace = facts.trace;
  const BatchGrowth growth(facts);
  CallSum all(facts), small(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (trace.events.kind[call.event] != Kind::kKernel) continue;
    all.add(call.event);
    if (growth.of(call) < kMostGrowth && !growth.moves_parameters(call)) small.add(call.event);
  }
  if (static_cast<double>(small.total()) <= kLeastShare * static_cast<double>(all.total())) return {};
  if (static_cast<double>(facts.diagnosis.timing.device_period) < kLeastBusy * static_cast<double>(facts.step))
    return {};
  if (!has_memory_for_doubled_batch(facts).value_or(true) || !row_loops(facts, kTurnsOfRowLoop).empty()) return {};
  const Nanoseconds likely = saved_by_doubled_batch(facts);
  if (facts.percent_of_step(likely) < kLeastPercent) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = Confidence::kMedium;
  finding.evidence = small.longest();
  finding.source = source_line(trace, finding.evidence.front());
  finding.title = "Kernels are too small for the GPU";
  finding.explanation = fmt::format(
      "Kernels with less than half a block a multiprocessor, or with too few rows to fill a tile, take {} of a step "
      "({:.0f} "
      "%); at twice the batch they would take little longer, and a sample {:.0f} % less.",
      format_time(small.time_a_step()), facts.percent_of_step(small.time_a_step()), facts.percent_of_step(likely));
  finding.fix = {"larger_batch", "Double the batch (and look at the learning rate), or accumulate fewer small ones.",
                 "- loader = DataLoader(data, batch_size=n)\n+ loader = DataLoader(data, batch_size=2 * n)"};
  return {finding};
}

}  // namespace

extern const Rule kUnderfilledGpuRule;
const Rule kUnderfilledGpuRule = {
    {"underfilled_gpu", "Kernels too small for the device",
     "Kernels of less than half a block a multiprocessor, and products of so few rows that they wait for their "
     "weights, "
     "for more than a fifth of the time in kernels, in a step of which the device works for at least half.",
     "CPU and CUDA activities; shapes to know the rows of products; memory events to know whether a larger batch fits.",
     "The steps are replayed at twice the batch: see small_batch.",
     "Promised and gained, in percent of the step: 45 and 48 (few_queries_many_items), 46 and 47 (recurrent_tagger), "
     "44 and 41 (gradients_set_to_zero)."},
    find};

}  // namespace telltale
