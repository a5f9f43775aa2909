#include "advise/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "advise/all_findings.h"
#include "advise/device_word.h"
#include "advise/facts.h"
#include "advise/finding.h"
#include "advise/fix_replay.h"
#include "advise/request_words.h"
#include "analysis/batch_size.h"
#include "analysis/device_maker.h"
#include "analysis/gpu_peaks.h"
#include "analysis/host_work.h"
#include "analysis/machine_load.h"
#include "analysis/measured_step.h"
#include "analysis/requests.h"
#include "analysis/trace_info.h"
#include "base/amounts.h"
#include "memory/memory_causes.h"
#include "replay/edit.h"
#include "replay/observer_fit.h"
#include "replay/step_graph.h"
#include "trace/gauges.h"
#include "trace/own_recordings.h"

namespace telltale {
namespace {

DiagnosedTrace diagnosed(const Trace& trace) {
  DiagnosedTrace seen{trace.events.size(), trace.duration, {}, {}, trace.metadata_named(kAskedFor) != nullptr};
  for (const Device& device : trace.devices) seen.devices.push_back(device.name);
  for (const AnomalyCount& each : trace.anomalies.troubles()) seen.anomalies.push_back({each.anomaly, each.count});
  return seen;
}

// What the recording lacks, and that something was lost or repaired.
std::vector<std::string> remarks_on(const Trace& trace) {
  std::vector<std::string> remarks;
  for (const AnomalyCount& lost : trace.anomalies.list()) {
    if (!has_telling_example(lost.anomaly)) continue;
    remarks.push_back(fmt::format("{} {}.", description_of(lost.anomaly), lost.example.text));
  }
  std::string trouble =
      anomaly_sentence(trace.anomalies.count(Severity::kLost), trace.anomalies.count(Severity::kRepaired));
  if (!trouble.empty()) remarks.push_back(std::move(trouble));
  return remarks;
}

// What each device did in the timing's window, a step.
std::vector<DeviceUse> device_uses(const Trace& trace, const StepTiming& timing) {
  std::multimap<DeviceId, Track> streams;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream) streams.emplace(track.device, track);
  std::vector<DeviceUse> uses;
  for (const Device& device : trace.devices) {
    DeviceUse use{device.id, shown_name(device), 0, 0, 0};
    std::vector<Interval> work;
    double kernels = 0;
    const auto [first_stream, last_stream] = streams.equal_range(device.id);
    for (const auto& [id, track] : std::ranges::subrange(first_stream, last_stream)) {
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

HostActivity per_step(HostActivity host, double periods) {
  const auto divide = [periods](Nanoseconds& time) {
    time = static_cast<Nanoseconds>(static_cast<double>(time) / periods);
  };
  divide(host.window_ns);
  for (ThreadActivity& thread : host.threads) {
    divide(thread.busy_ns);
    for (ScopeTime& scope : thread.scopes) {
      divide(scope.own_ns);
      scope.calls /= periods;
    }
  }
  return host;
}

void describe_host(const Trace& trace, Diagnosis& diagnosis) {
  const Interval window = diagnosis.is_about_steps ? diagnosis.timing.window : Interval{0, trace.duration};
  diagnosis.host = host_activity(trace, window);
  if (diagnosis.is_about_steps) diagnosis.host = per_step(std::move(diagnosis.host), diagnosis.timing.periods);
  diagnosis.latencies = span_latencies(trace, window);
  diagnosis.counters = counter_summaries(trace, window);
  std::erase_if(diagnosis.counters,
                [](const CounterSummary& counter) { return gauge_called(counter.name).has_value(); });
}

// A server's requests may run beside each other, and share what is used between them, too; they come as often without
// the recording. Steps that were found where nothing repeats are none to divide energy by.
void describe_energy(const Trace& trace, const std::vector<Phase>& phases, Diagnosis& diagnosis) {
  if (const std::optional<Requests>& requests = diagnosis.requests; requests && requests->per_second() > 0) {
    const auto distance = static_cast<Nanoseconds>(1e9 / requests->per_second());
    diagnosis.energy = energy_use(trace, requests->window, StepLengths{distance, distance}, requests->rows);
    return;
  }
  const bool has_steps = diagnosis.is_about_steps && diagnosis.timing.source != StepSource::kWhole;
  const Interval window = has_steps ? diagnosis.timing.window : Interval{0, trace.duration};
  const auto step =
      has_steps ? std::optional(StepLengths{diagnosis.unobserved_ns, diagnosis.recorded_ns}) : std::nullopt;
  const auto samples = has_steps ? samples_per_step(trace, diagnosis.timing, phases) : std::nullopt;
  diagnosis.energy = energy_use(trace, window, step, samples);
}

// What the steps cost, and that the recording does not tell it where somebody asked.
void find_cost(const EnergyPrices& prices, Diagnosis& diagnosis) {
  if (!prices.money && !prices.grams) return;
  if (!diagnosis.energy || !diagnosis.energy->joules_per_step) {
    diagnosis.remarks.push_back(
        !diagnosis.energy
            ? "The trace has no gauges of energy or power, so that the price of a step is not known: record with "
              "telltale record, where the GPU's driver or the processors' counters can be read."
            : "The trace has too few readings of energy within its steps, or no steps, so that the price of a step is "
              "not known: record for some seconds.");
    return;
  }
  diagnosis.cost = running_cost(*diagnosis.energy->joules_per_step, prices);
  if (diagnosis.findings.empty() || !is_about_time(diagnosis.findings.front())) return;
  diagnosis.cost->saved_by = diagnosis.findings.front().rule;
  diagnosis.cost->saved_percent = diagnosis.findings.front().saving.likely_percent;
}

// Steps that were timed unrecorded and those of the trace may be different things, when a program has several loops.
constexpr double kLeastOfRecorded = 0.125, kMostOfRecorded = 2;

// Of the device work of a recorded step: single steps differ by less.
constexpr double kLeastOfDeviceWork = 0.98;

// What the device works per step whatever its host does. A copy between it and memory that may be paged out takes as
// long as the host does to hand over the pages, and the host waits for it.
Nanoseconds own_device_work(const Diagnosis& diagnosis) {
  Nanoseconds handed_over = 0;
  for (const CopyCall& copy : diagnosis.copies.calls)
    if (copy.is_pageable) handed_over += copy.exposed;
  return diagnosis.timing.device_period - handed_over / std::max<std::ptrdiff_t>(std::ssize(diagnosis.timing.steps), 1);
}

bool is_shorter_than_device_work(Nanoseconds step, const Diagnosis& diagnosis) {
  return static_cast<double>(step) < kLeastOfDeviceWork * static_cast<double>(own_device_work(diagnosis));
}

// A host that runs ahead of its device, until the queue is full, makes steps look shorter than their device work, but
// for those of pauses: the recorder waits for the device at both ends.
bool is_same_step(const MeasuredStep& measured, const Diagnosis& diagnosis) {
  const double share =
      static_cast<double>(measured.typical) / static_cast<double>(std::max<Nanoseconds>(diagnosis.recorded_ns, 1));
  if (measured.when != Unrecorded::kPaused && is_shorter_than_device_work(measured.typical, diagnosis)) return false;
  return diagnosis.timing.source != StepSource::kWhole && share >= kLeastOfRecorded && share <= kMostOfRecorded;
}

// An estimate is never longer than the recorded step: observing speeds nothing up. Its range may be, as steps differ.
void estimate_unobserved_step(const Trace& trace, const StepGraph& graph, Diagnosis& diagnosis) {
  const Nanoseconds recorded = diagnosis.recorded_ns;
  diagnosis.observer = {observer_cost(trace), 1};
  const Nanoseconds step = std::min(graph.replay(without_observer(trace)).period, recorded);
  const UnobservedRange range = unobserved_range(graph, diagnosis.observer.cost);
  diagnosis.unobserved_ns = step;
  diagnosis.unobserved_low_ns = std::min(range.low, step);
  diagnosis.unobserved_high_ns = std::max(range.high, step);
  diagnosis.unobserved_source = step < recorded ? UnobservedSource::kEstimated : UnobservedSource::kRecorded;
}

// Of the steps on a host, one in so many at most may be rare, and takes so many times the median.
constexpr std::size_t kRareSteps = 5;
constexpr Nanoseconds kTimesUsual = 2;

// What steps that are rare and long, as those that begin an epoch, add to the recorded mean. A measured step has none
// of them: it is made of a few, without those far off the others.
Nanoseconds added_by_rare_steps(const Diagnosis& diagnosis) {
  const StepTiming& timing = diagnosis.timing;
  if (diagnosis.breakdown.has_device) return 0;
  Nanoseconds all = 0, usual = 0;
  std::size_t rare = 0;
  for (const StepSpan& step : timing.steps) {
    const Nanoseconds took = step.duration();
    all += took;
    if (took > kTimesUsual * timing.median)
      ++rare;
    else
      usual += took;
  }
  if (rare == 0 || kRareSteps * rare > timing.steps.size()) return 0;
  return all / std::ssize(timing.steps) - usual / static_cast<Nanoseconds>(timing.steps.size() - rare);
}

void find_unobserved_step(const Trace& trace, const StepGraph& graph, Diagnosis& diagnosis) {
  auto measured = measured_step(trace);
  if (measured)
    for (Nanoseconds* const time : {&measured->typical, &measured->fastest, &measured->slowest})
      *time += added_by_rare_steps(diagnosis);
  if (!measured || !is_same_step(*measured, diagnosis)) return estimate_unobserved_step(trace, graph, diagnosis);
  diagnosis.observer = fitted_to(graph, observer_cost(trace), measured->typical, host_step_ahead(trace, *measured));
  diagnosis.unobserved_ns = measured->typical;
  diagnosis.unobserved_low_ns = measured->fastest;
  diagnosis.unobserved_high_ns = measured->slowest;
  diagnosis.unobserved_source = UnobservedSource::kMeasured;
  diagnosis.unrecorded_steps = measured->steps;
}

// Where more than this share of a device's memory is in use, somebody will want to know what would free some.
constexpr double kScarceShare = 0.8;

bool is_of_memory_alone(const Trace& trace) {
  const auto says_what_runs = [](Kind kind) { return kind != Kind::kAnnotation && kind != Kind::kSpan; };
  return (trace.memory.size() > 0 || !trace.memory_segments.empty()) &&
         std::ranges::none_of(trace.events.kind, says_what_runs);
}

bool is_scarce(const Trace& trace, const std::optional<MemorySummary>& memory) {
  const auto ran_out = [](const AllocatorEvent& event) { return event.action == AllocatorAction::kOutOfMemory; };
  if (std::ranges::any_of(trace.allocator_events, ran_out)) return true;
  if (!memory) return false;
  const std::optional<std::int64_t> capacity = capacity_of(trace, memory->device);
  return capacity && static_cast<double>(std::max(memory->peak_allocated, memory->peak_reserved)) >
                         kScarceShare * static_cast<double>(*capacity);
}

void remark_on_load(const Trace& trace, Diagnosis& diagnosis) {
  const std::vector<StepSpan>& steps = diagnosis.timing.steps;
  const auto load = machine_load(trace, {steps.front().host.begin, steps.back().host.end});
  if (!load || !load->is_contended()) return;
  diagnosis.remarks.push_back(
      fmt::format("Other processes kept {} of {} busy meanwhile: on an idle machine all of this takes less time.",
                  format_number(load->by_others()), counted(load->processors, "processor")));
}

// Requests to tell of: no GPU is at work, and threads wait for them or share them, or an event loop calls the model.
std::optional<Requests> served_requests(const Trace& trace, const Diagnosis& diagnosis) {
  if (diagnosis.breakdown.has_device || diagnosis.timing.source != StepSource::kPattern) return std::nullopt;
  std::optional<Requests> requests = requests_of(trace);
  if (!requests) return std::nullopt;
  const bool serves = requests->threads.size() > 1 || requests->are_on_event_loop ||
                      !served_passes(trace, SilentTime::kIsWaiting).empty();
  return serves ? std::move(requests) : std::nullopt;
}

void fill_percents(Saving& saving, Nanoseconds step) {
  saving.low_percent = percent_of(saving.low, step);
  saving.likely_percent = percent_of(saving.likely, step);
  saving.high_percent = percent_of(saving.high, step);
}

std::vector<Finding> found(const Facts& facts, const DiagnosisOptions& options) {
  const bool serves = facts.diagnosis.requests.has_value();
  const auto least = static_cast<Nanoseconds>(options.least_saving_percent / 100 * static_cast<double>(facts.step));
  const std::string& device = facts.diagnosis.device_word;
  std::vector<Finding> findings = all_findings(facts, options.rules, least, options.keeps_memory_edits);
  for (Finding& finding : findings) {
    fill_percents(finding.saving, facts.diagnosis.unobserved_ns);
    for (std::string* text : {&finding.title, &finding.explanation, &finding.fix.text})
      *text = with_device_word(in_words_of_requests(std::move(*text), serves), device);
    for (FindingPart& part : finding.parts) {
      fill_percents(part.saving, facts.diagnosis.unobserved_ns);
      for (std::string* text : {&part.title, &part.explanation})
        *text = with_device_word(in_words_of_requests(std::move(*text), serves), device);
    }
  }
  return findings;
}

}  // namespace

std::string_view name_of(UnobservedSource source) {
  switch (source) {
    case UnobservedSource::kMeasured:
      return "measured";
    case UnobservedSource::kEstimated:
      return "estimated";
    case UnobservedSource::kRecorded:
      break;
  }
  return "recorded";
}

double Diagnosis::slowdown_percent() const {
  if (unobserved_ns <= 0) return 0;
  return std::max(0.0, 100.0 * static_cast<double>(recorded_ns - unobserved_ns) / static_cast<double>(unobserved_ns));
}

double Diagnosis::observer_percent() const {
  if (recorded_ns <= 0) return 0;
  return std::max(0.0, 100.0 * static_cast<double>(recorded_ns - unobserved_ns) / static_cast<double>(recorded_ns));
}

bool Diagnosis::has_slower_device() const {
  return unobserved_source == UnobservedSource::kMeasured && is_shorter_than_device_work(unobserved_ns, *this);
}

Diagnosis diagnose(const Trace& trace, const DiagnosisOptions& options) {
  Diagnosis diagnosis;
  diagnosis.trace = diagnosed(trace);
  diagnosis.remarks = remarks_on(trace);
  diagnosis.device_word = device_word(trace);
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
  diagnosis.sync_rows = sync_rows(trace, diagnosis.timing, diagnosis.syncs);
  diagnosis.waits = host_waits(trace, diagnosis.timing, host_work);
  diagnosis.copies = copy_summary(trace, diagnosis.timing);
  diagnosis.memory = memory_summary(trace, diagnosis.timing);
  diagnosis.is_of_memory_alone = is_of_memory_alone(trace);
  if (options.wants_memory || diagnosis.is_of_memory_alone || is_scarce(trace, diagnosis.memory))
    diagnosis.memory_causes = std::make_shared<const MemoryCauses>(memory_causes(trace, diagnosis.timing, phases));
  diagnosis.communication = communication(trace, diagnosis.timing);
  remark_on_load(trace, diagnosis);
  diagnosis.requests = served_requests(trace, diagnosis);
  if (diagnosis.requests) diagnosis.remarks.push_back(serving_sentence(*diagnosis.requests));
  diagnosis.is_about_steps = is_about_steps(trace, diagnosis);
  describe_host(trace, diagnosis);

  const StepGraph graph(trace, diagnosis.timing, host_work);
  find_unobserved_step(trace, graph, diagnosis);
  describe_energy(trace, phases, diagnosis);
  diagnosis.strip = step_strip(trace, diagnosis.timing, diagnosis.breakdown, host_work);
  diagnosis.strip_to_zoom_into = step_strip(trace, diagnosis.timing, diagnosis.breakdown, host_work, kStripToZoomInto);

  diagnosis.look = looked_at(trace, diagnosis, options.rules);

  const Facts facts(trace, diagnosis, graph, std::move(host_work), std::move(phases), options.keeps_fixes);
  diagnosis.findings = found(facts, options);
  if (options.keeps_fixes) diagnosis.fixes = std::make_shared<const FixReplay>(trace, graph, diagnosis);
  find_cost(options.prices, diagnosis);
  return diagnosis;
}

}  // namespace telltale
