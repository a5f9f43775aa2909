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
            fmt::format("Let worker processes prepare batches ahead of time: num_workers={}{}.", loading.workers,
                        loading.workers < kMostWorkers ? ", one for each processor" : " or more"),
            code_with_workers(loading)};
  return {"loader_workers",
          "Give the loader more workers or a larger prefetch_factor. If all cores are already busy, make the "
          "transforms cheaper or move them to the GPU.",
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
      "The data loader takes {} per recorded step: {}.", format_time(loading.recorded),
      loading.is_in_main_process ? "it makes each batch only when it is asked for" : "its workers cannot keep up");
  finding.saving = saving_around(facts, loading.saved, kUncertainty);
  finding.confidence = loading.is_in_main_process ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = loading.calls;
  finding.source = source_line(facts.trace, loading.calls.front());
  finding.fix = fix_for(loading);
  return {finding};
}

}  // namespace

Rule rules::data_loading() {
  return {{.title = "Waiting for data",
           .looks_for = "Calls to the data loader, on the thread that feeds the GPU, that the GPU has to wait for.",
           .needs = "CPU activities; torch's own annotation of the loader is enough, and stacks add the source line.",
           .saving = fmt::format(
               "The steps are replayed with every batch ready when it is asked for, but no step becomes shorter than "
               "{} workers need for a batch: they are taken to be {} times as fast as one. Where the recording shows "
               "fewer processors, each worker counts as {} of one that works alone.",
               kMostWorkers, format_number(kSpeedOfWorkers), format_number(kSpeedOfWorker)),
           .held = "Predicted and measured savings, in percent of the step: 78 and 79 (loader_no_workers), 80 and 78 "
                   "(one_loader_worker), 30 and 28 (examples/python/train.py on two processors).",
           .fixes = {"loader_workers"}},
          find};
}

}  // namespace telltale
