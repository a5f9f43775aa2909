// Most of what a batch takes is spent on one line of the dataset, of its transforms or of the collate function.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/data_loading.h"
#include "advise/patterns/loader_lines.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// The line may be made twice as fast or be done with altogether.
constexpr double kUncertainty = 0.5;

// Workers that spare the program so much of its waiting are the easier change; data_loading names the line beside them.
constexpr double kEnough = 0.75;

// The program with batches that its own process makes without the line.
Edit without_line(const Facts& facts, const DataLoading& loading) {
  Edit edit = facts.unobserved;
  for (const EventId call : loading.calls) {
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event)
      edit.scale_event(facts.trace, event, static_cast<float>(1 - loading.line->share));
  }
  return edit;
}

// Of workers that are waited for, all the time that the line takes is waited for.
Nanoseconds saved_by_workers(const Facts& facts, const DataLoading& loading) {
  if (loading.are_workers_idle) return 0;
  const auto left = static_cast<Nanoseconds>(static_cast<double>(facts.step) * (1 - loading.line->share));
  return std::min(loading.saved_when_ready, facts.step - std::max(left, loading.making.rest));
}

// What the finding saves, and what changes.
void add_saving(const Facts& facts, const DataLoading& loading, Finding& finding) {
  Nanoseconds saved = 0;
  if (loading.is_in_main_process) {
    const Edit edit = without_line(facts, loading);
    saved = facts.saved_by(edit);
    finding.edit = facts.kept(edit);
  } else {
    saved = saved_by_workers(facts, loading);
    finding.edit = loading.with_less_waiting(saved);
  }
  finding.saving = saving_around(facts, saved, kUncertainty);
}

std::string about_workers(const DataLoading& loading) {
  if (!loading.making.processors || loading.saved > 0 || loading.are_workers_idle) return "";
  return fmt::format(" {} would gain little: the program keeps the processors busy.",
                     loading.workers_now() > 0 ? "More workers" : "Worker processes");
}

std::string how_to_mend(const LoaderLine& line) {
  const std::string place = place_of(line);
  if (!line.waits_for.empty())
    return fmt::format("Do not wait in {}: keep what it waits for in memory, or ask for a whole batch at once.", place);
  return fmt::format(
      "Make {} cheaper: do it once and keep the result, do it for a whole batch at once, or store the "
      "data in a form that needs less work.",
      place);
}

std::vector<Finding> find(const Facts& facts) {
  const DataLoading& loading = facts.data_loading();
  if (loading.calls.empty() || !loading.line) return {};
  if (static_cast<double>(loading.saved) >= kEnough * static_cast<double>(loading.saved_when_ready)) return {};
  Finding finding;
  add_saving(facts, loading, finding);
  if (!is_about_time(finding)) return {};
  finding.title = "One line takes most of the data loader's time";
  const std::string by_workers =
      loading.batch_takes ? fmt::format("A batch takes a worker {}", format_time(*loading.batch_takes))
                          : fmt::format("The data loader takes {} per recorded step", format_time(loading.recorded));
  finding.explanation = fmt::format("{}, {}.{}", by_workers, part_in_line(*loading.line), about_workers(loading));
  if (loading.line->share < 0.5) finding.title = "One line takes a good part of the data loader's time";
  finding.confidence = Confidence::kMedium;
  finding.evidence = loading.calls;
  finding.source = SourceLine{loading.line->file, loading.line->line, loading.line->function};
  finding.fix = {"cheaper_batches", how_to_mend(*loading.line), ""};
  return {finding};
}

}  // namespace

Rule rules::loader_line() {
  return {{.title = "A costly line in the data loader",
           .looks_for = fmt::format(
               "A line of the dataset, its transforms or the collate function that takes at least {} of the time in "
               "which batches are made, while steps wait for them, where workers would not spare {} of that.",
               format_percent(100 * kTellingShare), format_percent(100 * kEnough)),
           .needs = "Stacks, which Telltale's recorder samples by default; of worker processes, that recorder.",
           .cannot_do_without = {{Need::kStacks}},
           .saving = "The steps are replayed with the line gone; the lower end of the range is what half of it takes. "
                     "Where workers make the batches, a step that waits for them becomes shorter by the line's share, "
                     "but never shorter than with every batch ready.",
           .held = "Not measured yet.",
           .fixes = {"cheaper_batches"}},
          find};
}

}  // namespace telltale
