// Python's garbage collector looks at all objects of the program while the device waits.
#include <fmt/format.h>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// With the long-lived objects frozen, a collection looks at those of the last step only.
constexpr float kLeftByFreezing = 0.05F;
constexpr double kUncertainty = 0.25;

std::vector<Finding> find(const Facts& facts) {
  const std::vector<EventId> collections = covering_calls(facts, HostWork::kGarbageCollection);
  if (collections.empty()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : collections) edit.scale_subtree(facts.trace, facts.launched, call, kLeftByFreezing, 1);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.title =
      fmt::format("Python collects garbage while the {} waits", facts.diagnosis.breakdown.has_device ? "GPU" : "step");
  finding.explanation = fmt::format("Garbage collection takes {} per recorded step; the longest collection took {}.",
                                    format_time(time_in(facts, collections)),
                                    format_time(facts.trace.events.duration[collections.front()]));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.confidence = Confidence::kHigh;
  finding.evidence = collections;
  finding.source = source_line(facts.trace, collections.front());
  finding.fix = {
      "freeze_gc",
      "Call gc.freeze() once the model and the data exist, so that the collector no longer looks at them, and "
      "collect rarely.",
      "+ gc.collect(); gc.freeze()  # once, before the loop\n- gc.collect()  # in the loop"};
  return {finding};
}

}  // namespace

Rule rules::garbage_collection() {
  return {{.title = "Garbage collection in the step",
           .looks_for = "Collections by Python's garbage collector on the thread that feeds the GPU.",
           .needs = "Stacks, or a recorder that marks collections, as ours does.",
           .cannot_do_without = {{Need::kStacks, Need::kCollections}},
           .saving = fmt::format("The steps are replayed with collections that take {:.0f} % of their time.",
                                 100 * kLeftByFreezing),
           .held = "Predicted and measured savings, in percent of the step: 45 and 54 (collect_every_step).",
           .fixes = {"freeze_gc"}},
          find};
}

}  // namespace telltale
