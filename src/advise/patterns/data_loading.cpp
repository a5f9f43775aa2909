#include "advise/patterns/data_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "advise/patterns/host_calls.h"
#include "advise/patterns/loader_lines.h"
#include "analysis/machine_load.h"
#include "base/amounts.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

// What it takes to fetch a batch that is ready: 0.2 ms in the recorded steps of a loader with eight workers.
constexpr Nanoseconds kReadyBatch = 200 * 1'000;

// Workers that are waited for make batches all the time. Some time goes to handing them over.
constexpr double kBusyWorkers = 0.6;

// What others keep busy on a machine they would share with the program, if it had more to do.
constexpr double kMostTakenByOthers = 0.5;

// How many processors the program may use, by what the recorder says; nothing where it does not say.
std::optional<int> processors_of(const Trace& trace) {
  const std::optional<double> count = session_number(trace, "processors");
  return count && *count > 0 && *count < 1 << 20 ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

// The iterator's name says so, and stands in traces without stacks too; else fetching from the dataset does.
bool makes_batches_itself(const Facts& facts, const std::vector<EventId>& calls) {
  const std::vector<bool> is_telling = names_where(facts.trace, [](std::string_view name) {
    return name.contains("_SingleProcessDataLoaderIter") || name.contains("torch/utils/data/_utils/fetch.py");
  });
  return std::any_of(calls.begin(), calls.end(), [&](EventId call) {
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event)
      if (is_telling[facts.trace.events.name[event]]) return true;
    return false;
  });
}

// Of several loaders, one of the sort whose calls are seen. What the recorder says of them counts more than names.
void find_setup(const Facts& facts, DataLoading& loading) {
  const std::vector<LoaderSetup> setups = loader_setups(facts.trace);
  const auto has_workers = [](const LoaderSetup& setup) { return setup.workers > 0; };
  loading.is_in_main_process = makes_batches_itself(facts, loading.calls);
  if (setups.empty()) return;
  if (std::ranges::all_of(setups, has_workers)) loading.is_in_main_process = false;
  if (std::ranges::none_of(setups, has_workers)) loading.is_in_main_process = true;
  const auto found = std::ranges::find(setups, !loading.is_in_main_process, has_workers);
  if (found != setups.end()) loading.setup = *found;
}

Edit with_batches_ready(const Facts& facts, const DataLoading& loading, double ready) {
  const double factor = std::min(1.0, ready / static_cast<double>(std::max<Nanoseconds>(loading.recorded, 1)));
  Edit edit = facts.unobserved;
  for (const EventId call : loading.calls) {
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event) edit.scale_event(facts.trace, event, static_cast<float>(factor));
  }
  return edit;
}

// What passes from one epoch to the next is time in which workers have nothing to do.
Nanoseconds saved_without_seams(const Facts& facts, const std::vector<EpochSeam>& seams) {
  Edit edit = facts.unobserved;
  for (const EpochSeam& seam : seams) {
    std::vector<EventId> calls = seam.between;
    for (const EventId call : {seam.last_call, seam.first_call})
      if (call != kNoEvent) calls.push_back(call);
    for (const EventId call : calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  }
  return std::clamp<Nanoseconds>(facts.saved_by(edit), 0, facts.step);
}

double share_of(Nanoseconds part, Nanoseconds whole) {
  return whole <= 0 ? 1 : std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0);
}

// What a single process needs for a step's batches. Without what recording cost, the program makes them in the time
// that it would save and what ready ones cost. Workers that are waited for are busy all the time, unless the recording
// says how long batches take them.
void find_making(const Facts& facts, const std::optional<LoaderWork>& work, double ready, DataLoading& loading) {
  BatchMaking& making = loading.making;
  making.rest = facts.step - loading.saved_when_ready;
  if (loading.is_in_main_process) {
    making.alone = std::min({loading.recorded, facts.step, loading.saved_when_ready + static_cast<Nanoseconds>(ready)});
    return;
  }
  const int now = std::max(1, loading.workers_now());
  if (!work) {
    making.alone = static_cast<Nanoseconds>(static_cast<double>(facts.step) *
                                            std::clamp(kSpeedOfWorker * now, 1.0, kSpeedOfWorkers));
    return;
  }
  loading.batch_takes = work->took / work->batches;
  const double busy = static_cast<double>(*loading.batch_takes) * loading.batches;
  const auto within_epochs = static_cast<double>(facts.step - saved_without_seams(facts, loading.seams));
  loading.are_workers_idle = busy < kBusyWorkers * now * within_epochs;
  // As much as so many workers would need for it by the model: they were measured beside each other.
  making.alone = static_cast<Nanoseconds>(busy / now * std::clamp(kSpeedOfWorker * now, 1.0, kSpeedOfWorkers));
}

void find_processors(const Facts& facts, DataLoading& loading) {
  const std::optional<int> known = processors_of(facts.trace);
  if (!known) return;
  BatchMaking& making = loading.making;
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  const auto load = machine_load(facts.trace, {steps.front().host.begin, steps.back().host.end});
  const auto busy_making = static_cast<double>(making.alone) * making.processor_share;
  const auto rest = static_cast<double>(making.rest);
  // Where nobody measured it: a host beside a device waits, one without computes.
  double other = facts.diagnosis.breakdown.has_device ? 0 : rest;
  if (load && load->own)
    other = std::clamp(*load->own * static_cast<double>(facts.step) - busy_making, 0.0, rest * *known);
  making.other_work = static_cast<Nanoseconds>(other);
  const double by_others = load ? load->by_others() : 0;
  making.processors = *known - std::min(by_others, kMostTakenByOthers * *known);
}

// More than one for each processor help only where they wait.
void choose_workers(const Facts& facts, DataLoading& loading) {
  const std::optional<int> known = processors_of(facts.trace);
  const bool mostly_waits = loading.making.processor_share < 0.5;
  const int most = known && !mostly_waits ? std::clamp(*known, 1, kMostWorkers) : kMostWorkers;
  loading.workers = known ? loading.making.best_workers(most) : most;
  if (loading.are_workers_idle || (loading.workers_now() > 0 && loading.workers <= loading.workers_now())) {
    loading.workers = loading.workers_now();
    return;
  }
  loading.saved =
      std::clamp<Nanoseconds>(facts.step - loading.making.step_with(loading.workers), 0, loading.saved_when_ready);
}

}  // namespace

DataLoading find_data_loading(const Facts& facts) {
  DataLoading loading;
  LoaderCalls calls = loader_calls(facts.trace, covering_calls(facts, HostWork::kDataLoading));
  if (calls.steady.empty() && calls.seams.empty()) return loading;
  loading.calls = std::move(calls.steady);
  loading.seams = std::move(calls.seams);
  loading.batches = calls.batches / facts.steps();
  loading.recorded = time_in(facts, loading.calls);
  find_setup(facts, loading);
  const std::optional<LoaderWork> work =
      loading.is_in_main_process ? own_loader_work(facts.trace) : workers_loader_work(facts.trace);
  const LoaderTime time = loading.is_in_main_process ? loader_time(facts, loading.calls)
                                                     : loader_time(work ? work->lines : std::vector<LoaderLine>());
  loading.line = time.costliest;
  // By the clock, a process that others keep from running seems to wait; samples know better.
  if (time.waiting)
    loading.making.processor_share = 1 - *time.waiting;
  else if (work)
    loading.making.processor_share = share_of(work->processor_time, work->took);
  const double ready = static_cast<double>(kReadyBatch) * loading.batches;
  const Edit when_ready = with_batches_ready(facts, loading, ready);
  loading.saved_when_ready = std::clamp<Nanoseconds>(facts.saved_by(when_ready), 0, facts.step);
  loading.when_ready = facts.kept(when_ready);
  find_making(facts, work, ready, loading);
  find_processors(facts, loading);
  choose_workers(facts, loading);
  return loading;
}

std::string code_with_workers(const Facts& facts, const DataLoading& loading) {
  const std::string before =
      loading.is_in_main_process ? "" : fmt::format(", num_workers={}", std::max(1, loading.workers_now()));
  return fmt::format(
      "- loader = DataLoader(dataset, batch_size{})\n+ loader = DataLoader(dataset, batch_size, num_workers={}, {}"
      "persistent_workers=True)",
      before, loading.workers,
      !loading.is_in_main_process            ? "prefetch_factor=4, "
      : facts.diagnosis.breakdown.has_device ? "pin_memory=True, "
                                             : "");
}

std::string place_of(const LoaderLine& line) { return short_place({line.file, line.line, line.function}); }

std::string part_in_line(const LoaderLine& line) {
  constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"sleep", "sleeping"},
      {"lock", "waiting for a lock"},
      {"socket", "waiting for the network"},
      {"pipe", "waiting for another process"},
      {"process", "waiting for another process"},
      {"file", "waiting for files"},
  });
  const auto words = std::ranges::find(kWords, line.waits_for, &decltype(kWords)::value_type::first);
  const std::string_view how = words != kWords.end()    ? words->second
                               : line.waits_for.empty() ? std::string_view()
                                                        : std::string_view("waiting");
  return fmt::format("{} of it in {} ({}){}{}", format_percent(100 * line.share), place_of(line), line.function,
                     how.empty() ? "" : ", ", how);
}

}  // namespace telltale
