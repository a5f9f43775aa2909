#include "advise/models/host_threads.h"

#include <algorithm>
#include <cmath>

#include "analysis/machine_load.h"
#include "trace/loader_facts.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

// A processor counts as free from this share on: nothing keeps one idle altogether.
constexpr double kFreeShare = 0.75;

// No machine is so busy for long.
constexpr double kLeastShare = 0.05;

double whole_processors(double processors) { return std::floor(processors + 1 - kFreeShare); }

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
  const auto load = machine_load(facts.trace, {steps.front().host.begin, steps.back().host.end});
  if (!load) return host;
  host.idle = std::max(0.0, *processors - load->busy);
  host.by_others = load->by_others();
  if (load->own) host.share_of_thread = std::clamp((*load->own - host.by_workers) / *threads, kLeastShare, 1.0);
  return host;
}

}  // namespace telltale
