// The host waits for collectives that it runs itself: for other ranks that come later, or for the network.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/rank_waits.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Less remains after overlapping: the last bucket of gradients has nothing to hide behind.
constexpr double kLeastWaitPercent = 5;
// Of the communication that computation could hide, how much is; as in exposed_communication.
constexpr double kHiddenShare = 0.5;
constexpr double kUncertainty = 0.5;

Nanoseconds computing(const Facts& facts) {
  return facts.diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kOperators)];
}

Fix fix_for(const Facts& facts, bool is_imbalance) {
  if (is_imbalance)
    return {"balance_ranks",
            "Record the slowest rank, and mend what it does that this one does not; give all ranks equal work, such "
            "as batches of equal length.",
            "$ telltale record -- torchrun --nproc-per-node 2 program.py  # a file for each rank"};
  if (facts.trains)
    return {"overlap_communication",
            "Let gradients be reduced while the backward pass goes on, as DistributedDataParallel does, in fewer and "
            "larger buckets. Where gradients are accumulated, reduce them only at the last batch: no_sync().",
            "- for p in model.parameters(): dist.all_reduce(p.grad)\n+ model = DistributedDataParallel(model, "
            "bucket_cap_mb=50)\n+ with model.no_sync():  # all but the last batch of a step\n+     loss.backward()"};
  return {"overlap_communication",
          "Start collectives early with async_op=True, compute meanwhile, and wait only where the result is needed.",
          "- dist.all_reduce(y)\n+ work = dist.all_reduce(y, async_op=True)\n+ z = layer(x)\n+ work.wait()"};
}

std::string reason(const RankWaits& waits) {
  const std::optional<Nanoseconds> for_ranks = waits.for_ranks();
  if (!for_ranks) return "Whether for slower ranks or for the network, this rank's recording alone does not tell.";
  const std::string bytes = format_bytes(*waits.bytes);
  if (*for_ranks == 0) return fmt::format("The {} that it sends per step explain that on a slow network.", bytes);
  return fmt::format(
      "For {} of that the {} that it sends per step are no reason even at 1 Gbit/s: other ranks come later.",
      format_time(*for_ranks), bytes);
}

std::vector<Finding> find(const Facts& facts) {
  const RankWaits waits = rank_waits(facts);
  if (waits.collectives.empty() || facts.percent_of_step(waits.waited) < kLeastWaitPercent) return {};
  const Nanoseconds all = std::max<Nanoseconds>(0, facts.saved_by(without_rank_waits(facts, waits, 1)));
  const Nanoseconds for_ranks = waits.for_ranks().value_or(0);
  const bool is_imbalance = 2 * for_ranks > waits.waited;
  const Nanoseconds other = waits.waited - for_ranks;
  const auto hidden = static_cast<Nanoseconds>(kHiddenShare * static_cast<double>(std::min(other, computing(facts))));
  const Nanoseconds shorter = is_imbalance ? for_ranks : hidden;
  const double share = static_cast<double>(shorter) / static_cast<double>(std::max<Nanoseconds>(waits.waited, 1));
  const Nanoseconds likely = std::min(all, facts.saved_by(without_rank_waits(facts, waits, share)));
  if (likely <= 0) return {};

  Finding finding;
  finding.title = is_imbalance ? "The step waits for slower ranks" : "The step waits for other ranks or the network";
  finding.explanation =
      fmt::format("It waits {} per recorded step ({}) for {}, mostly {}. {}", format_time(waits.waited),
                  format_percent(percent_of(waits.waited, facts.diagnosis.recorded_ns)),
                  counted(static_cast<double>(waits.collectives.size()) / facts.steps(), "collective"),
                  facts.trace.name(waits.collectives.front()), reason(waits));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(without_rank_waits(facts, waits, share));
  finding.saving.high = std::max(finding.saving.likely, std::min(finding.saving.high, all));
  finding.confidence = is_imbalance ? Confidence::kMedium : Confidence::kLow;
  for (const auto& [event, waited] : waits.by_event) finding.evidence.push_back(event);
  std::ranges::stable_sort(finding.evidence, std::ranges::greater{},
                           [&](EventId event) { return waits.by_event.at(event); });
  if (!finding.evidence.empty()) finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = fix_for(facts, is_imbalance);
  return {finding};
}

}  // namespace

Rule rules::waiting_for_ranks() {
  return {
      {.title = "Waiting for other ranks on the host",
       .looks_for = fmt::format(
           "Time in which the step's thread is in native code that shows nothing, in no event or in a lock, while a "
           "collective of gloo, MPI or UCC is under way, for {} % of the step or more.",
           kLeastWaitPercent),
       .needs = "CPU activities of one rank; shapes tell how much of the wait the network can explain.",
       .saving = fmt::format(
           "What more than 1 Gbit/s takes for the bytes sent is waiting for slower ranks: where that is most of the "
           "wait, the steps are replayed without it, as if all ranks came at once. Else they are replayed with the "
           "wait shorter by {:.0f} % of what computation could hide.",
           100 * kHiddenShare),
       .held = "Never compared with measurements yet.",
       .fixes = {"balance_ranks", "overlap_communication"}},
      find};
}

}  // namespace telltale
