// The device waits for the host to launch its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "advise/models/batch_model.h"
#include "advise/models/compile_advice.h"
#include "advise/models/compile_model.h"
#include "advise/models/graph_model.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the step, that the device waits for Python, operators and launches.
constexpr double kLeastIdlePercent = 15;
constexpr double kUncertainty = 0.2;

// The GPU's idle time as it would be without the profiler: the step less the device's work, as far as launches cause
// it.
double waiting_percent(const Facts& facts) {
  const auto& idle = facts.diagnosis.breakdown.by_host_work;
  Nanoseconds all = 0;
  for (const Nanoseconds part : idle) all += part;
  if (all <= 0) return 0;
  const Nanoseconds launching = idle[static_cast<std::size_t>(HostWork::kLaunching)] +
                                idle[static_cast<std::size_t>(HostWork::kPython)] +
                                idle[static_cast<std::size_t>(HostWork::kOperators)];
  const double idle_percent = 100 - facts.percent_of_step(std::min(facts.diagnosis.timing.device_period, facts.step));
  return idle_percent * static_cast<double>(launching) / static_cast<double>(all);
}

struct Remedy {
  Nanoseconds saving = 0;
  Fix fix;
  std::vector<EventId> reach;
  std::shared_ptr<const KeptEdit> edit;  // where edits are kept
  std::string amounts;                   // a sentence, or empty
};

// CUDA graphs by hand where the step repeats itself without a backward pass, by torch.compile elsewhere; where waits
// cut the step into pieces, only more work per launch helps.
Remedy best_remedy(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  if (const std::optional<Edit> graph = captured_in_graph(facts); graph && !model.has_backward())
    return {facts.saved_by(*graph), graph_fix(), changed_by(facts, *graph), facts.kept(*graph), {}};
  if (model.applies()) {
    CompileAdvice advice = compile_advice_for_launches(facts);
    return {advice.saved, std::move(advice.fix), changed_by(facts, advice.edit), facts.kept(advice.edit),
            std::move(advice.amounts)};
  }
  if (has_memory_for_doubled_batch(facts).value_or(true))
    return {saved_by_doubled_batch(facts),
            larger_batch_fix(facts),
            unchanged_by_doubled_batch(facts),
            facts.kept_for_batch(doubled_batch(facts), 2),
            {}};
  return {};
}

CallSum computing_kernels(const Facts& facts) {
  CallSum kernels(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls)
    if (facts.trace.events.kind[call.event] == Kind::kKernel && call.work != WorkClass::kCommunication)
      kernels.add(call.event);
  return kernels;
}

// Kernels that the device waited for, the longest wait first. A gap has several parts with one kernel behind them.
std::vector<EventId> longest_awaited(const Facts& facts, const CallSum& kernels) {
  const std::set<EventId> computing(kernels.calls().begin(), kernels.calls().end());
  std::map<EventId, Nanoseconds> waits;
  for (const IdleGap& gap : facts.diagnosis.breakdown.gaps)
    if (computing.contains(gap.next) && gap.cause != HostWork::kSync) waits[gap.next] += gap.when.length();
  std::vector<EventId> awaited;
  for (const auto& [kernel, wait] : waits) awaited.push_back(kernel);
  std::ranges::stable_sort(awaited, std::ranges::greater{}, [&](EventId kernel) { return waits[kernel]; });
  return awaited;
}

std::vector<Finding> find(const Facts& facts) {
  if (!facts.diagnosis.breakdown.has_device || facts.graph.is_launch_blocking()) return {};
  const double waiting = waiting_percent(facts);
  const CallSum kernels = computing_kernels(facts);
  if (waiting < kLeastIdlePercent || kernels.empty()) return {};
  Remedy remedy = best_remedy(facts);
  if (remedy.saving <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, remedy.saving, kUncertainty);
  finding.reach = std::move(remedy.reach);
  finding.edit = std::move(remedy.edit);
  finding.title = "The GPU waits for the host to launch its kernels";
  const double per_step = std::round(kernels.calls_per_step());
  finding.explanation = fmt::format(
      "A step has {} of {} on average; preparing and launching {} takes the host longer, so the GPU has nothing to do "
      "for {} of the step.",
      counted(per_step, "kernel"), format_time(kernels.total() / static_cast<Nanoseconds>(kernels.calls().size())),
      per_step == 1 ? "it" : "them", format_percent(waiting));
  if (!remedy.amounts.empty()) finding.explanation.append(" ").append(remedy.amounts);
  finding.evidence = longest_awaited(facts, kernels);
  if (!finding.evidence.empty()) finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = std::move(remedy.fix);
  return {finding};
}

}  // namespace

Rule rules::launch_bound() {
  return {{.title = "The GPU waits for launches",
           .looks_for = fmt::format("Without the cost of recording, the GPU has nothing to do for {} % of the step or "
                                    "more while the host is busy with Python, operators or launches.",
                                    kLeastIdlePercent),
           .needs = "CPU and CUDA activities.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed as one CUDA graph where there is no backward pass; where there is one, as "
                     "torch.compile with graphs would run them (without graphs if every step has different shapes); "
                     "and with twice the batch where waits for the GPU rule out both.",
           .held = "In 14 programs the median error was 3.1 points of the step and the largest 34 (noise_made_on_cpu: "
                   "predicted 2, measured -32). One prediction was more than 15 points too high.",
           .fixes = {"cuda_graph", "compile", "compile_graphs", "larger_batch"}},
          find};
}

}  // namespace telltale
