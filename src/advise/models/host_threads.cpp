#include "advise/models/host_threads.h"

#include <algorithm>
#include <cmath>

#include "advise/models/host_cost.h"
#include "analysis/host_activity.h"
#include "trace/loader_facts.h"

namespace telltale {
namespace {

// A processor counts as free from this share on: nothing keeps one idle altogether.
constexpr double kFreeShare = 0.75;

// No machine is so busy for long.
constexpr double kLeastShare = 0.05;

double whole_processors(double processors) { return std::floor(processors + 1 - kFreeShare); }

std::optional<double> mean_of(const std::vector<CounterSummary>& counters, std::string_view name) {
  const auto found = std::ranges::find(counters, name, &CounterSummary::name);
  return found == counters.end() ? std::nullopt : std::optional(found->mean);
}

// A worker makes a batch for each step.
double busy_workers(const Facts& facts) {
  const std::optional<LoaderWork> work = workers_loader_work(facts.trace);
  if (!work || work->batches <= 0) return 0;
  const double batch = static_cast<double>(work->processor_time) / static_cast<double>(work->batches);
  return std::min(batch / static_cast<double>(facts.step), static_cast<double>(work->workers));
}

}  // namespace

double HostThreads::useful_at_most() const {
  return std::clamp(whole_processors(processors - by_others - by_workers), 1.0, std::max(1.0, processors));
}

double HostThreads::useful_at_least() const { return std::min(processors, threads + whole_processors(idle)); }

std::optional<HostThreads> host_threads(const Facts& facts) {
  if (facts.diagnosis.breakdown.has_device || facts.diagnosis.timing.steps.empty()) return {};
  const std::optional<double> processors = session_number(facts.trace, "processors");
  const std::optional<double> threads = session_number(facts.trace, "torch_threads");
  if (!processors || !threads || *processors < 1 || *threads < 1) return {};
  HostThreads host{.threads = *threads, .processors = *processors};
  host.idle = std::max(0.0, *processors - *threads);
  host.by_workers = busy_workers(facts);
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  const auto load = counter_summaries(facts.trace, {steps.front().host.begin, steps.back().host.end});
  const std::optional<double> busy = mean_of(load, "processors busy"), own = mean_of(load, "process processors");
  if (!busy) return host;
  host.idle = std::max(0.0, *processors - *busy);
  if (!own) return host;
  host.by_others = std::max(0.0, *busy - *own);
  host.share_of_thread = std::clamp((*own - host.by_workers) / *threads, kLeastShare, 1.0);
  return host;
}

}  // namespace telltale
