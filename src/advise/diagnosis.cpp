#include "advise/diagnosis.h"

#include <algorithm>

#include "advise/facts.h"
#include "advise/ranking.h"
#include "advise/rule.h"
#include "analysis/host_work.h"
#include "replay/observer.h"
#include "replay/step_graph.h"

namespace telltale {
namespace {

// What each device did in the timing's window, a step.
std::vector<DeviceUse> device_uses(const Trace& trace, const StepTiming& timing) {
  std::vector<DeviceUse> uses;
  for (const Device& device : trace.devices) {
    DeviceUse use{device.id, device.name, 0, 0, 0};
    std::vector<Interval> work;
    double kernels = 0;
    for (const Track& track : trace.tracks) {
      if (track.kind != TrackKind::kStream || track.device != device.id) continue;
      for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
        const Interval when{trace.events.start[event], trace.events.end(event)};
        if (!is_device_work(trace.events.kind[event]) || when.end <= timing.window.begin ||
            when.begin >= timing.window.end)
          continue;
        work.push_back(when);
        if (trace.events.kind[event] == Kind::kKernel && when.begin >= timing.window.begin) ++kernels;
      }
    }
    if (work.empty()) continue;
    const auto busy = static_cast<double>(total_length(clipped(united(std::move(work)), timing.window)));
    use.busy_ns = static_cast<Nanoseconds>(busy / timing.periods);
    use.idle_ns = timing.period() - use.busy_ns;
    use.kernels = static_cast<std::int64_t>(kernels / timing.periods + 0.5);
    uses.push_back(use);
  }
  return uses;
}

// Marks are the program's own word; other steps are only looked for where a framework trains or serves.
bool is_about_steps(const Trace& trace, const Diagnosis& diagnosis) {
  if (trace.events.size() == 0) return true;
  return diagnosis.timing.source == StepSource::kMarks || diagnosis.breakdown.has_device || uses_framework(trace);
}

void describe_host(const Trace& trace, Diagnosis& diagnosis) {
  const Interval window = diagnosis.is_about_steps ? diagnosis.timing.window : Interval{0, trace.duration};
  diagnosis.host = host_activity(trace, window);
  diagnosis.latencies = span_latencies(trace, window);
  diagnosis.counters = counter_summaries(trace, window);
}

// Never longer than the recorded step: observing speeds nothing up.
Nanoseconds unobserved_step(const Trace& trace, const StepGraph& graph, Nanoseconds recorded) {
  return std::min(graph.replay(without_observer(trace)).period, recorded);
}

std::vector<Finding> find_all(const Facts& facts, const DiagnosisOptions& options) {
  const auto is_wanted = [&](std::string_view rule) {
    return options.rules.empty() || std::find(options.rules.begin(), options.rules.end(), rule) != options.rules.end();
  };
  std::vector<Finding> findings;
  for (const Rule* rule : all_rules()) {
    if (!is_wanted(rule->info.id)) continue;
    for (Finding& finding : rule->find(facts)) {
      if (finding.rule.empty()) finding.rule = rule->info.id;
      finding.evidence.resize(std::min(finding.evidence.size(), Finding::kMaxEvidence));
      findings.push_back(std::move(finding));
    }
  }
  const auto least = static_cast<Nanoseconds>(options.least_saving_percent / 100 * static_cast<double>(facts.step));
  return ranked(std::move(findings), least);
}

}  // namespace

double Diagnosis::observer_percent() const {
  if (recorded_ns <= 0) return 0;
  return std::max(0.0, 100.0 * static_cast<double>(recorded_ns - unobserved_ns) / static_cast<double>(recorded_ns));
}

Diagnosis diagnose(const Trace& trace, const DiagnosisOptions& options) {
  Diagnosis diagnosis;
  diagnosis.timing = step_timing(trace, options.steps).value();
  std::vector<HostWork> host_work = host_work_by_event(trace);
  diagnosis.breakdown = step_breakdown(trace, diagnosis.timing, host_work);
  diagnosis.recorded_ns = diagnosis.breakdown.step;
  diagnosis.devices = device_uses(trace, diagnosis.timing);
  std::vector<Phase> phases = phase_by_event(trace, host_work);
  diagnosis.phases = phase_times(trace, diagnosis.timing, phases);
  diagnosis.modules = module_times(trace, diagnosis.timing, phases);
  diagnosis.kernels = kernel_summary(trace, diagnosis.timing);
  diagnosis.queue = launch_queue(trace, diagnosis.timing, diagnosis.breakdown.device);
  diagnosis.syncs = sync_points(trace, diagnosis.timing, diagnosis.breakdown);
  diagnosis.copies = copy_summary(trace, diagnosis.timing);
  diagnosis.memory = memory_summary(trace, diagnosis.timing);
  diagnosis.communication = communication(trace, diagnosis.timing);
  diagnosis.is_about_steps = is_about_steps(trace, diagnosis);
  describe_host(trace, diagnosis);

  const StepGraph graph(trace, diagnosis.timing, host_work);
  diagnosis.unobserved_ns = unobserved_step(trace, graph, diagnosis.recorded_ns);
  const Facts facts(trace, diagnosis, graph, std::move(host_work), std::move(phases));
  diagnosis.findings = find_all(facts, options);
  return diagnosis;
}

}  // namespace telltale
