// The program has nothing to compute while it waits for the next batch.
#include "advise/patterns/data_loading.h"

#include <fmt/format.h>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// How busy processors are, and what handing over batches costs, differs from program to program.
constexpr double kUncertainty = 0.2;
// Where workers and the program compete for processors, also how they are shared.
constexpr double kUncertaintyOnBusyProcessors = 0.5;

// The other way to shorter loading, behind the first.
std::string or_a_cheaper_line(const DataLoading& loading) {
  return loading.line ? fmt::format(" Or make {} cheaper.", place_of(*loading.line)) : "";
}

Fix fix_for(const Facts& facts, const DataLoading& loading) {
  const int now = loading.workers_now();
  std::string text;
  if (loading.is_in_main_process) {
    const std::string* const processors = facts.trace.metadata_named("processors");
    text = fmt::format("Let worker processes prepare batches ahead of time: num_workers={}{}.", loading.workers,
                       processors == nullptr ? " or more" : "");
  } else if (now > 0) {
    text = fmt::format("Give the loader {} instead of {}.", counted(loading.workers, "worker"), now);
  } else {
    text =
        "Give the loader more workers or a larger prefetch_factor. If all processors are already busy, make the "
        "transforms cheaper.";
  }
  return {"loader_workers", text + or_a_cheaper_line(loading), code_with_workers(facts, loading)};
}

std::string explanation_of(const DataLoading& loading) {
  const std::string part = loading.line ? ", " + part_in_line(*loading.line) : "";
  if (loading.is_in_main_process)
    return fmt::format("The data loader takes {} per recorded step{}: it makes each batch only when it is asked for.",
                       format_time(loading.recorded), part);
  if (loading.workers_now() == 0)
    return fmt::format("The data loader takes {} per recorded step{}: its workers cannot keep up.",
                       format_time(loading.recorded), part);
  const std::string workers = counted(loading.workers_now(), "worker");
  if (!loading.batch_takes)
    return fmt::format("The program waits {} per recorded step for the data loader: its {} cannot keep up.",
                       format_time(loading.recorded), workers);
  return fmt::format("The program waits {} per recorded step for the data loader: {} it has needs {} for a batch{}.",
                     format_time(loading.recorded),
                     loading.workers_now() == 1 ? "the one worker" : fmt::format("each of the {}", workers),
                     format_time(*loading.batch_takes), part);
}

// Whether batches as a rule come late, and not only a few, as the first ones of an epoch do.
bool comes_late_as_a_rule(const Facts& facts, const DataLoading& loading) {
  const Nanoseconds usual = facts.trace.events.duration[loading.calls[loading.calls.size() / 2]];
  return 2 * static_cast<double>(usual) * static_cast<double>(loading.calls.size()) >=
         static_cast<double>(loading.recorded) * facts.steps();
}

// The workers have batches ready, and yet they come late.
Finding slow_handover(const Facts& facts, const DataLoading& loading) {
  Finding finding;
  finding.explanation = fmt::format(
      "The program waits {} per recorded step for the data loader, though its {} {} idle for much of the time: batches "
      "take long from one process to the other.",
      format_time(loading.recorded), counted(loading.workers_now(), "worker"),
      loading.workers_now() == 1 ? "is" : "are");
  finding.saving = saving_around(facts, loading.saved_when_ready, 1);
  finding.edit = loading.when_ready;
  finding.confidence = Confidence::kLow;
  finding.fix = {"other",
                 "Let the dataset return few large tensors rather than many small ones or Python objects, which are "
                 "pickled one by one, and give the loader a larger prefetch_factor.",
                 ""};
  return finding;
}

Finding more_workers(const Facts& facts, const DataLoading& loading) {
  Finding finding;
  finding.explanation = explanation_of(loading);
  const bool is_short = loading.making.is_short_of_processors(loading.workers);
  finding.saving = saving_around(facts, loading.saved, is_short ? kUncertaintyOnBusyProcessors : kUncertainty);
  finding.edit = loading.with_less_waiting(loading.saved);
  finding.confidence = loading.is_in_main_process && !is_short ? Confidence::kHigh : Confidence::kMedium;
  finding.fix = fix_for(facts, loading);
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  const DataLoading& loading = facts.data_loading();
  if (loading.saved == 0 &&
      !(loading.are_workers_idle && loading.saved_when_ready > 0 && comes_late_as_a_rule(facts, loading)))
    return {};
  Finding finding = loading.saved > 0 ? more_workers(facts, loading) : slow_handover(facts, loading);
  finding.title =
      facts.diagnosis.breakdown.has_device ? "The GPU waits for the next batch" : "Each step waits for its batch";
  finding.evidence = loading.calls;
  finding.source = loading.line ? SourceLine{loading.line->file, loading.line->line, loading.line->function}
                                : source_line(facts.trace, loading.calls.front());
  return {finding};
}

}  // namespace

Rule rules::data_loading() {
  return {{.title = "Waiting for data",
           .looks_for = "Calls to the data loader, on the thread that runs the steps, that the steps have to wait for.",
           .needs = "CPU activities; torch's own annotation of the loader is enough. Stacks add the costliest line; "
                    "Telltale's recorder adds how many workers the loader has and what they spend their time on.",
           .saving = fmt::format(
               "The steps are replayed with every batch ready when it is asked for, but no step becomes shorter than "
               "the workers need for a batch: {} are taken to be {} times as fast as one, fewer to be {} of one that "
               "works alone each, and what waits does so in all of them at once. Nor does it become shorter than all "
               "work of the step, that of making batches included, takes the processors that are there for the "
               "program: workers gain nothing where the program keeps them all busy.",
               kMostWorkers, format_number(kSpeedOfWorkers), format_number(kSpeedOfWorker)),
           .held = "Predicted and measured savings, in percent of the step: 78 and 79 (loader_no_workers), 80 and 78 "
                   "(one_loader_worker), 30 and 28 (examples/python/train.py on two processors).",
           .fixes = {"loader_workers", "other"}},
          find};
}

}  // namespace telltale
