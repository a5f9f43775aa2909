// The device has nothing to do while the program waits for the next batch.
#include "advise/patterns/data_loading.h"

#include <fmt/format.h>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// How many workers a loader has is not recorded.
constexpr double kUncertainty = 0.2;

Fix fix_for(const DataLoading& loading) {
  if (loading.is_in_main_process)
    return {"loader_workers",
            fmt::format("Let worker processes make the batches ahead: num_workers={}{}.", loading.workers,
                        loading.workers < 8 ? ", one for each processor" : " or more"),
            fmt::format("- loader = DataLoader(dataset, batch_size)\n"
                        "+ loader = DataLoader(dataset, batch_size, num_workers={}, pin_memory=True, "
                        "persistent_workers=True)",
                        loading.workers)};
  return {"loader_workers",
          "Give the loader more workers or a larger prefetch_factor; when the cores are all busy, make the transforms "
          "cheaper or move them to the GPU.",
          fmt::format("- loader = DataLoader(dataset, batch_size, num_workers=1)\n"
                      "+ loader = DataLoader(dataset, batch_size, num_workers={}, prefetch_factor=4, "
                      "persistent_workers=True)",
                      loading.workers)};
}

std::vector<Finding> find(const Facts& facts) {
  const DataLoading loading = data_loading(facts);
  if (loading.saved == 0) return {};
  Finding finding;
  finding.title =
      facts.diagnosis.breakdown.has_device ? "The GPU waits for the next batch" : "Each step waits for its batch";
  finding.explanation = fmt::format(
      "The program spends {} of a recorded step in its data loader, {}.", format_time(loading.recorded),
      loading.is_in_main_process ? "which makes the batch only when it is asked for" : "whose workers are too slow");
  finding.saving = saving_around(facts, loading.saved, kUncertainty);
  finding.confidence = loading.is_in_main_process ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = loading.calls;
  finding.source = source_line(facts.trace, loading.calls.front());
  finding.fix = fix_for(loading);
  return {finding};
}

}  // namespace

Rule rules::data_loading() {
  return {
      {.title = "Waiting for data",
       .looks_for = "Calls of the data loader on the thread that feeds the device, for which the device has to wait.",
       .needs = "CPU activities; torch's own annotation of the loader is enough, stacks add the line.",
       .saving = "The steps are replayed with batches that are ready when they are asked for; but no step becomes "
                 "shorter than eight workers need for a batch, which is a fifth of what one needs. Where the recording "
                 "says that there are fewer processors, as many workers each do 0.65 times what one alone does.",
       .held = "Promised and gained, in percent of the step: 78 and 79 (loader_no_workers), 80 and 78 "
               "(one_loader_worker), 30 and 28 (examples/python/train.py on two processors).",
       .fixes = {"loader_workers"}},
      find};
}

}  // namespace telltale
