// The device is idle for much of the step, and has memory to spare.
#include <fmt/format.h>

#include "advise/models/batch_model.h"
#include "advise/patterns/device_memory.h"
#include "advise/patterns/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Loading, compiling and collecting are no matter of the batch: they must not be most of the device's idle time.
constexpr double kMostOtherIdle = 0.5;
constexpr double kUncertainty = 0.3;

bool waits_for_other_reasons(const StepBreakdown& breakdown) {
  const auto idle = [&](HostWork cause) { return breakdown.by_host_work[static_cast<std::size_t>(cause)]; };
  const Nanoseconds other = idle(HostWork::kDataLoading) + idle(HostWork::kCompilation) +
                            idle(HostWork::kGarbageCollection) + idle(HostWork::kAllocator);
  return static_cast<double>(other) > kMostOtherIdle * static_cast<double>(breakdown.idle_total());
}

std::vector<Finding> find(const Facts& facts) {
  if (!facts.diagnosis.breakdown.has_device || !has_memory_for_doubled_batch(facts).value_or(true)) return {};
  // A whole trace that counts as one step says nothing about a batch.
  if (facts.diagnosis.timing.source == StepSource::kWhole || facts.is_device_bound()) return {};
  if (waits_for_other_reasons(facts.diagnosis.breakdown)) return {};
  // A loop over rows takes longer the more rows there are.
  if (!facts.row_loops().empty()) return {};
  std::vector<EventId> kernels = kernels_for_larger_batch(facts);
  if (kernels.empty()) return {};
  const Nanoseconds likely = saved_by_doubled_batch(facts);
  if (facts.percent_of_step(likely) < kLeastPercentOfLargerBatch) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept_for_batch(doubled_batch(facts), 2);
  finding.reach = unchanged_by_doubled_batch(facts);
  finding.confidence = Confidence::kMedium;
  finding.evidence = std::move(kernels);
  finding.source = source_line(facts.trace, finding.evidence.front());
  const double busy = facts.percent_of_step(std::min(facts.diagnosis.timing.device_period, facts.step));
  finding.title = "The batch is too small for the GPU";
  finding.explanation = fmt::format(
      "The GPU works for {} of the step; at twice the batch a step would take little longer, and each {} {} less.",
      format_percent(busy), facts.trains ? "sample" : "request", format_percent(facts.percent_of_step(likely)));
  if (facts.diagnosis.memory)
    finding.explanation += fmt::format(" The memory peak is {}.", format_bytes(facts.diagnosis.memory->peak_allocated));
  else if (const auto memory = memory_in_use(facts))
    finding.explanation += fmt::format(" At most {} of the GPU's {} are in use.", format_bytes(memory->peak_bytes),
                                       format_bytes(memory->whole_bytes));
  finding.fix = larger_batch_fix(facts);
  return {finding};
}

}  // namespace

Rule rules::small_batch() {
  return {{.title = "A batch that leaves the GPU idle",
           .looks_for = fmt::format("Steps in which the GPU has time to spare, twice the memory peak fits into {:.0f} "
                                    "% of its memory, and each sample costs at least {} % less at twice the batch.",
                                    100 * kUsableMemory, kLeastPercentOfLargerBatch),
           .needs = "CPU and CUDA activities; memory events or gauges to know the peak.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed with GPU work, loading and copies for twice the batch (kernels that leave "
                     "multiprocessors empty grow less, the optimizer not at all); the saving is that of one sample, as "
                     "a share of the step.",
           .held = "In 10 programs the median error was 3.2 points of the step and the largest 13 "
                   "(decode_launch_bound: predicted 48, measured 61).",
           .fixes = {"larger_batch"}},
          find};
}

}  // namespace telltale
