// The data loader works in the program's own process, while the step waits.
#include <fmt/format.h>

#include "advise/patterns/data_loading.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.2;

std::vector<Finding> find(const Facts& facts) {
  const DataLoading& loading = facts.data_loading();
  if (!loading.is_in_main_process || loading.saved == 0) return {};
  Finding finding;
  finding.title = "The data loader has no worker processes";
  finding.explanation =
      fmt::format("The program makes each batch itself, which takes {} per recorded step, and {} nothing meanwhile.",
                  format_time(loading.recorded), facts.diagnosis.breakdown.has_device ? "launches" : "computes");
  finding.saving = saving_around(facts, loading.saved, kUncertainty);
  finding.edit = loading.with_less_waiting(loading.saved);
  const bool is_short = loading.making.is_short_of_processors(loading.workers);
  finding.confidence = is_short ? Confidence::kMedium : Confidence::kHigh;
  finding.evidence = loading.calls;
  finding.source = source_line(facts.trace, loading.calls.front());
  finding.fix = {"loader_workers", "Set num_workers above 0 so that other processes prepare batches ahead of time.",
                 code_with_workers(facts, loading)};
  return {finding};
}

}  // namespace

Rule rules::loader_no_workers() {
  return {{.title = "A data loader without workers",
           .looks_for = "Batches made by the thread that asks for them: torch's single-process iterator, or calls to "
                        "the dataset inside the loader.",
           .needs = "CPU activities; torch's own annotation of the loader is enough.",
           .saving = "The same as for data_loading, whose cause this is.",
           .held = "Merged with data_loading, which predicts the same saving; see there.",
           .fixes = {"loader_workers"}},
          find};
}

}  // namespace telltale
