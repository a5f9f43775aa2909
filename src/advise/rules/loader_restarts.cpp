// Every epoch starts the loader's worker processes anew.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/data_loading.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.3;

// What a call for a batch usually takes; nothing where epochs have no others.
Nanoseconds usual_call(const Facts& facts, const DataLoading& loading) {
  return loading.calls.empty() ? 0 : facts.trace.events.duration[loading.calls[loading.calls.size() / 2]];
}

// The replay with workers that live on, and what of its calls becomes shorter.
class LivingOn {
 public:
  explicit LivingOn(const Facts& facts) : facts_(facts), edit_(facts.unobserved) {}

  void shorten(EventId call, Nanoseconds left) {
    const Nanoseconds now = call == kNoEvent ? 0 : facts_.trace.events.duration[call];
    if (now <= left) return;
    const auto factor = static_cast<float>(static_cast<double>(left) / static_cast<double>(now));
    edit_.scale_subtree(facts_.trace, facts_.launched, call, factor, 1);
    reach_.push_back(call);
    taken_ += now - left;
  }

  Nanoseconds saved() const { return facts_.saved_by(edit_); }
  const Edit& edit() const { return edit_; }
  Nanoseconds taken() const { return taken_; }
  std::vector<EventId> reach() {
    std::ranges::sort(reach_);
    return std::move(reach_);
  }

 private:
  const Facts& facts_;
  Edit edit_;
  std::vector<EventId> reach_;
  Nanoseconds taken_ = 0;  // as recorded
};

// How often a step of the whole run starts workers that could have lived on. The recorder counts iterators in pauses
// too; a program that ended all at once did not tell how many.
std::optional<double> starts_per_step(const Facts& facts, std::size_t recorded) {
  std::int64_t starts = 0, steps = 0;
  for (const LoaderSetup& setup : loader_setups(facts.trace))
    if (setup.workers > 0 && !setup.persistent_workers) starts += setup.iterators - 1;
  for (const StepSpan& step : all_steps(facts.diagnosis.timing)) steps = std::max(steps, step.index + 1);
  if (starts < static_cast<std::int64_t>(recorded) || steps == 0) return {};
  return static_cast<double>(starts) / static_cast<double>(steps);
}

// What steps save that have as many starts as those of the whole run, in time of the recorded step.
Nanoseconds saved_in_whole_run(const Facts& facts, Nanoseconds saved, std::size_t recorded) {
  const std::optional<double> per_step = starts_per_step(facts, recorded);
  if (!per_step) return saved;
  const double start = static_cast<double>(saved) * facts.steps() / static_cast<double>(recorded);
  const double others = static_cast<double>(facts.step - saved), starts = start * *per_step;
  return static_cast<Nanoseconds>(static_cast<double>(facts.step) * starts / std::max(1.0, others + starts));
}

std::vector<Finding> find(const Facts& facts) {
  const DataLoading& loading = facts.data_loading();
  if (loading.seams.empty() || !loading.setup || loading.setup->persistent_workers) return {};
  const Nanoseconds usual = usual_call(facts, loading);
  LivingOn replay(facts);
  std::vector<EventId> starts;
  for (const EpochSeam& seam : loading.seams) {
    starts.push_back(seam.start);
    replay.shorten(seam.last_call, usual);
    for (const EventId call : seam.between) replay.shorten(call, 0);
    replay.shorten(seam.first_call, std::max(usual, loading.batch_takes.value_or(0)));
  }
  const Nanoseconds saved = saved_in_whole_run(facts, replay.saved(), starts.size());
  if (saved <= 0) return {};
  Finding finding;
  finding.title = "Each epoch starts its workers anew";
  finding.explanation =
      fmt::format("Stopping and starting {} and waiting for the first batch takes {} each time, and happens {} in {}.",
                  counted(loading.setup->workers, "worker"), format_time(replay.taken() / std::ssize(starts)),
                  how_often(static_cast<double>(starts.size())), counted(facts.steps(), "step"));
  finding.saving = saving_around(facts, saved, kUncertainty);
  finding.edit = facts.kept(replay.edit());
  finding.confidence = Confidence::kHigh;
  finding.reach = replay.reach();
  finding.source = source_line(facts.trace, starts.front());
  finding.evidence = std::move(starts);
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
       .saving =
           "The steps are replayed without the starts, with epochs that end as fast as a batch usually comes, and "
           "with first batches that come after as long as a worker needs for one, or as batches usually do. Starts "
           "count as often as the whole run has them, as far as it told.",
       .held = "Not measured yet.",
       .fixes = {"persistent_workers"}},
      find};
}

}  // namespace telltale
