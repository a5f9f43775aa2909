// The data loader works in the program's own process, while the device waits.
#include <fmt/format.h>

#include "advise/patterns/data_loading.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.2;

std::vector<Finding> find(const Facts& facts) {
  const DataLoading loading = data_loading(facts);
  if (!loading.is_in_main_process || loading.saved == 0) return {};
  Finding finding;
  finding.title = "The data loader has no worker processes";
  finding.explanation = fmt::format(
      "The training process makes each batch itself, which takes {} of a recorded step; meanwhile it launches nothing.",
      format_time(loading.recorded));
  finding.saving = saving_around(facts, loading.saved, kUncertainty);
  finding.confidence = Confidence::kHigh;
  finding.evidence = loading.calls;
  finding.source = source_line(facts.trace, loading.calls.front());
  finding.fix = {"loader_workers", "Set num_workers above 0, so that batches are made ahead in other processes.",
                 "- loader = DataLoader(dataset, batch_size)\n"
                 "+ loader = DataLoader(dataset, batch_size, num_workers=8, pin_memory=True, persistent_workers=True)"};
  return {finding};
}

}  // namespace

Rule rules::loader_no_workers() {
  return {{.title = "A loader without workers",
           .looks_for = "Batches that are made by the thread that asks for them: torch's single-process iterator, or "
                        "calls of the dataset within the loader.",
           .needs = "CPU activities; torch's own annotation of the loader is enough.",
           .saving = "As for data_loading, of which it is the cause.",
           .held = "Joined with data_loading, which promises the same; see there.",
           .fixes = {"loader_workers"}},
          find};
}

}  // namespace telltale
