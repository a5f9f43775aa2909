// Everything `telltale analyze` knows about a trace. All views read this, and compute nothing of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/finding.h"
#include "advise/needs.h"
#include "analysis/breakdown.h"
#include "analysis/communication.h"
#include "analysis/copy_summary.h"
#include "analysis/energy.h"
#include "analysis/host_activity.h"
#include "analysis/host_waits.h"
#include "analysis/kernel_summary.h"
#include "analysis/launch_queue.h"
#include "analysis/memory_summary.h"
#include "analysis/module_times.h"
#include "analysis/phases.h"
#include "analysis/requests.h"
#include "analysis/span_latency.h"
#include "analysis/step_strip.h"
#include "analysis/step_timing.h"
#include "analysis/sync_points.h"
#include "analysis/sync_rows.h"
#include "replay/observer_fit.h"
#include "trace/trace.h"

namespace telltale {

class FixReplay;
struct MemoryCauses;

struct AnomalyTally {
  Anomaly kind = Anomaly::kTruncated;
  std::uint64_t count = 0;
};

// The trace that was diagnosed, in short.
struct DiagnosedTrace {
  std::uint64_t events = 0;
  Nanoseconds duration_ns = 0;
  std::vector<std::string> devices;  // their names; empty where the file does not say
  std::vector<AnomalyTally> anomalies;
  bool is_ours = false;  // recorded from a framework by our own recorder
};

struct DeviceUse {
  DeviceId id = 0;
  std::string name;
  Nanoseconds busy_ns = 0, idle_ns = 0;  // a step
  std::int64_t kernels = 0;              // a step, rounded
  double utilization_percent() const {
    return busy_ns + idle_ns == 0 ? 0 : 100.0 * static_cast<double>(busy_ns) / static_cast<double>(busy_ns + idle_ns);
  }
};

// How the unobserved step is known.
enum class UnobservedSource : std::uint8_t {
  kMeasured,   // on steps of the same process that ran unrecorded
  kEstimated,  // by what recording costs elsewhere
  kRecorded,   // recording cost nothing: it is the recorded step
};
std::string_view name_of(UnobservedSource source);

struct Diagnosis {
  std::string path;  // as the caller names it
  DiagnosedTrace trace;
  std::string device_word = "GPU";  // what sentences call the devices
  StepTiming timing;
  // Whether steps are what to tell of. A program without a framework that marks none has requests and threads instead.
  bool is_about_steps = true;
  bool is_of_memory_alone = false;  // as of a snapshot of the allocator: nothing that runs was recorded
  Nanoseconds recorded_ns = 0;      // a step as it was recorded: what the breakdown adds up to
  Nanoseconds unobserved_ns = 0;    // a step as it would have been without a profiler
  // In which it lies: the spread of the measured steps, or what the estimate may be off by.
  Nanoseconds unobserved_low_ns = 0, unobserved_high_ns = 0;
  UnobservedSource unobserved_source = UnobservedSource::kRecorded;
  std::int64_t unrecorded_steps = 0;  // that it was measured over; 0 when it was not
  ObserverFit observer;               // what recording cost here
  StepBreakdown breakdown;
  std::vector<DeviceUse> devices;
  std::vector<PhaseTime> phases;
  std::vector<ModuleTime> modules;
  KernelSummary kernels;
  LaunchQueue queue;
  std::vector<SyncPoint> syncs;
  std::vector<SyncRow> sync_rows;  // the same, summed up by what waits
  std::vector<HostWait> waits;     // of the steps, for anything but the device, the loader and other ranks
  CopySummary copies;
  std::optional<MemorySummary> memory;
  std::optional<EnergyUse> energy;  // nothing where no gauges were read
  std::optional<RunningCost> cost;  // where a price was given and energy is known
  Communication communication;
  std::optional<Requests> requests;  // where steps are what a server does for them, or calls of its model
  HostActivity host;                 // a step or, where the trace is not about steps, all of it
  std::vector<SpanLatency> latencies;
  std::vector<CounterSummary> counters;  // but for gauges
  StepStrip strip;                       // a typical step as a picture
  StepStrip strip_to_zoom_into;          // the same step
  std::vector<Finding> findings;         // by falling likely saving; those of memory and trust after those of time
  Look look;                             // which rules had what they need
  // What fills the memory, for rules that save some: where it is scarce, or somebody asked (see DiagnosisOptions).
  std::shared_ptr<const MemoryCauses> memory_causes;
  std::shared_ptr<const FixReplay> fixes;  // where somebody wants to try them: see DiagnosisOptions
  std::vector<std::string> remarks;        // what a reader should know before trusting the rest, as sentences

  // How much longer the recorded step is than the unobserved one, in percent of that; never negative. What people mean
  // when they ask what recording costs.
  double slowdown_percent() const;
  // How much of the recorded step was the profiler's own, in percent; never negative.
  double observer_percent() const;
  // Whether the recorded steps have more device work than fits into a measured one: the device itself was slower while
  // it was recorded, as clocks fall under a power limit, and the difference is not what recording cost.
  bool has_slower_device() const;
};

struct DiagnosisOptions {
  std::optional<StepRange> steps;   // must choose a step of the trace: see steps_in()
  std::vector<std::string> rules;   // only these; all when empty
  double least_saving_percent = 1;  // findings about time below it are left out
  EnergyPrices prices;              // for Diagnosis::cost
  bool wants_memory = false;        // for Diagnosis::memory_causes, however much memory is left
  bool keeps_memory_edits = false;  // for Finding::memory_edit
  bool keeps_fixes = false;         // for Diagnosis::fixes, which needs the trace; they take memory
};

Diagnosis diagnose(const Trace& trace, const DiagnosisOptions& options = {});

}  // namespace telltale
