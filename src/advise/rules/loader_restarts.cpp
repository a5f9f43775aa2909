// Every epoch starts the loader's worker processes anew.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/data_loading.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.3;

// Workers that live on have the first batch of an epoch after as long as making it takes, or as usual batches come.
Nanoseconds usual_wait(const Facts& facts, const DataLoading& loading) {
  const Nanoseconds median = facts.trace.events.duration[loading.calls[loading.calls.size() / 2]];
  return std::max(median, loading.batch_takes.value_or(0));
}

// The call for the first batch behind each start, by start; kNoEvent where there is none.
std::vector<EventId> first_calls(const Facts& facts, const DataLoading& loading) {
  const Events& events = facts.trace.events;
  std::vector<EventId> found;
  for (const EventId start : loading.starts) {
    EventId first = kNoEvent;
    for (const EventId call : loading.calls)
      if (call > start && events.track[call] == events.track[start] && (first == kNoEvent || call < first))
        first = call;
    found.push_back(first);
  }
  return found;
}

std::vector<Finding> find(const Facts& facts) {
  const DataLoading loading = data_loading(facts);
  if (loading.calls.empty() || loading.starts.empty() || !loading.setup || loading.setup->persistent_workers) return {};
  const Events& events = facts.trace.events;
  const Nanoseconds usual = usual_wait(facts, loading);
  Edit edit = facts.unobserved;
  Nanoseconds taken = 0;
  std::vector<EventId> reach = loading.starts;
  for (const EventId start : loading.starts) {
    edit.scale_subtree(facts.trace, facts.launched, start, 0, 0);
    taken += events.duration[start];
  }
  for (const EventId call : first_calls(facts, loading)) {
    if (call == kNoEvent || events.duration[call] <= usual) continue;
    const auto factor = static_cast<float>(static_cast<double>(usual) / static_cast<double>(events.duration[call]));
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event) edit.scale_event(facts.trace, event, factor);
    taken += events.duration[call] - usual;
    reach.push_back(call);
  }
  const Nanoseconds saved = facts.saved_by(edit);
  if (saved <= 0) return {};
  Finding finding;
  finding.title = "Each epoch starts its workers anew";
  finding.explanation = fmt::format(
      "Starting {} and waiting for the first batch takes {} each time, and happens {} in {}.",
      counted(loading.setup->workers, "worker"), format_time(taken / static_cast<Nanoseconds>(loading.starts.size())),
      how_often(static_cast<double>(loading.starts.size())), counted(facts.steps(), "step"));
  finding.saving = saving_around(facts, saved, kUncertainty);
  finding.confidence = Confidence::kHigh;
  finding.evidence = loading.starts;
  std::ranges::sort(reach);
  finding.reach = std::move(reach);
  finding.source = source_line(facts.trace, loading.starts.front());
  if (!finding.source && !loading.setup->file.empty())
    finding.source = SourceLine{loading.setup->file, loading.setup->line, loading.setup->function};
  finding.fix = {"persistent_workers", "Keep the workers from one epoch to the next.",
                 fmt::format("- loader = DataLoader(dataset, batch_size, num_workers={0})\n"
                             "+ loader = DataLoader(dataset, batch_size, num_workers={0}, persistent_workers=True)",
                             loading.setup->workers)};
  return {finding};
}

}  // namespace

Rule rules::loader_restarts() {
  return {
      {.title = "Workers started for every epoch",
       .looks_for = "Iterators that a loader without persistent_workers makes within the steps, each of which starts "
                    "its worker processes.",
       .needs = "Telltale's recorder.",
       .saving = "The steps are replayed without the starts, and with first batches that come after as long as a "
                 "worker needs for one, or as batches usually do.",
       .held = "Not measured yet.",
       .fixes = {"persistent_workers"}},
      find};
}

}  // namespace telltale
