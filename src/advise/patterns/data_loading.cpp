#include "advise/patterns/data_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "advise/patterns/host_calls.h"

namespace telltale {
namespace {

// What it takes to fetch a batch that is ready: 0.2 ms in the recorded steps of a loader with eight workers.
constexpr Nanoseconds kReadyBatch = 200 * 1'000;

// How many processors the recorder says the program may use; nothing where it does not say.
std::optional<int> processors(const Trace& trace) {
  const std::string* const value = trace.metadata_named("processors");  // as JSON: "16"
  if (value == nullptr) return std::nullopt;
  const std::size_t digits = value->starts_with('"') ? 1 : 0;
  int count = 0;
  const auto read = std::from_chars(value->data() + digits, value->data() + value->size(), count);
  return read.ec == std::errc() && count > 0 ? std::optional(count) : std::nullopt;
}

int workers_for(const Trace& trace) {
  const std::optional<int> known = processors(trace);
  return known ? std::clamp(*known, 1, kMostWorkers) : kMostWorkers;
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

Nanoseconds saved_by_workers(const Facts& facts, const DataLoading& loading) {
  const auto ready = static_cast<double>(kReadyBatch) * static_cast<double>(loading.calls.size()) / facts.steps();
  const double factor = std::min(1.0, ready / static_cast<double>(std::max<Nanoseconds>(loading.recorded, 1)));
  Edit edit = facts.unobserved;
  for (const EventId call : loading.calls) {
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event) edit.scale_event(facts.trace, event, static_cast<float>(factor));
  }
  const Nanoseconds saved = facts.saved_by(edit);
  // Without what recording cost, the program makes a batch in the time that it would save and what a ready one costs.
  // Workers that are waited for are busy all the time: a batch takes them the whole step.
  const Nanoseconds made_here = std::min({loading.recorded, facts.step, saved + static_cast<Nanoseconds>(ready)});
  const Nanoseconds made_in = loading.is_in_main_process ? made_here : facts.step;
  const double speed = std::clamp(kSpeedOfWorker * loading.workers, 1.0, kSpeedOfWorkers);
  const auto made_by_workers_in = static_cast<Nanoseconds>(static_cast<double>(made_in) / speed);
  return std::max<Nanoseconds>(0, std::min(saved, facts.step - made_by_workers_in));
}

}  // namespace

DataLoading data_loading(const Facts& facts) {
  DataLoading loading;
  loading.calls = covering_calls(facts, HostWork::kDataLoading);
  if (loading.calls.empty()) return loading;
  loading.recorded = time_in(facts, loading.calls);
  loading.is_in_main_process = makes_batches_itself(facts, loading.calls);
  loading.workers = workers_for(facts.trace);
  loading.saved = saved_by_workers(facts, loading);
  return loading;
}

std::string code_with_workers(const DataLoading& loading) {
  return fmt::format(
      "- loader = DataLoader(dataset, batch_size)\n+ loader = DataLoader(dataset, batch_size, num_workers={}, "
      "pin_memory=True, persistent_workers=True)",
      loading.workers);
}

}  // namespace telltale
