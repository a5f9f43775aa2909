#include "report/analyze_json.h"

#include <cmath>
#include <ranges>

#include "analysis/sync_rows.h"
#include "report/analyze_words.h"
#include "report/json_lines.h"

namespace telltale {
namespace {

constexpr std::size_t kMostKernels = 100;

// Three decimals are more than any of them is known to.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json or_null_rounded(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(nullptr); }

Json event_or_null(EventId event) { return event == kNoEvent ? Json(nullptr) : Json(event); }

template <typename Items, typename Make>
Json list_of(const Items& items, Make make) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

Json trace_of(const Diagnosis& diagnosis, const Trace& trace) {
  return {{"path", diagnosis.path},
          {"events", trace.events.size()},
          {"duration_ns", trace.duration},
          {"devices", list_of(trace.devices, [](const Device& device) { return or_null(device.name); })},
          {"anomalies", list_of(trace.anomalies.list(), [](const AnomalyCount& each) {
             return Json{{"kind", name_of(each.anomaly)}, {"count", each.count}};
           })}};
}

Json step_of(const Diagnosis& diagnosis) {
  return {{"count", diagnosis.timing.steps.size()},
          {"mean_ns", diagnosis.recorded_ns},
          {"median_ns", diagnosis.timing.median},
          {"unobserved_ns", diagnosis.unobserved_ns},
          {"observer_percent", rounded(diagnosis.observer_percent())},
          {"source", name_of(diagnosis.timing.source)}};
}

Json steps_of(const Diagnosis& diagnosis) {
  return list_of(diagnosis.timing.steps, [](const StepSpan& step) {
    return Json{{"index", step.index},
                {"start_ns", step.host.begin},
                {"duration_ns", step.host.length()},
                {"device_busy_ns", step.device_busy}};
  });
}

Json breakdown_of(const Diagnosis& diagnosis) {
  return list_of(breakdown_rows(diagnosis), [](const BreakdownRow& row) {
    return Json{{"category", row.category}, {"ns", row.ns}, {"percent", rounded(row.percent)}};
  });
}

Json idle_of(const Diagnosis& diagnosis) {
  constexpr std::size_t kPrefix = std::string_view("idle_").size();
  Json list = Json::array();
  for (const BreakdownRow& row : breakdown_rows(diagnosis)) {
    if (!row.is_idle) continue;
    list.push_back({{"cause", row.category.substr(kPrefix)}, {"ns", row.ns}, {"percent", rounded(row.percent)}});
  }
  return list;
}

Json devices_of(const Diagnosis& diagnosis) {
  return list_of(diagnosis.devices, [](const DeviceUse& device) {
    return Json{{"id", device.id},
                {"name", or_null(device.name)},
                {"busy_ns", device.busy_ns},
                {"idle_ns", device.idle_ns},
                {"utilization_percent", rounded(device.utilization_percent())},
                {"kernels", device.kernels}};
  });
}

Json phases_of(const Diagnosis& diagnosis) {
  return list_of(diagnosis.phases, [](const PhaseTime& phase) {
    return Json{{"phase", name_of(phase.phase)}, {"cpu_ns", phase.cpu_ns}, {"device_ns", phase.device_ns}};
  });
}

Json modules_of(const Diagnosis& diagnosis) {
  return list_of(diagnosis.modules, [](const ModuleTime& module) {
    return Json{{"name", module.name},
                {"path", module.path},
                {"parent", module.parent == ModuleTime::kNoParent ? Json(nullptr) : Json(module.parent)},
                {"depth", module.depth},
                {"calls", module.calls},
                {"forward_cpu_ns", module.forward_cpu_ns},
                {"forward_device_ns", module.forward_device_ns},
                {"backward_cpu_ns", module.backward_cpu_ns},
                {"backward_device_ns", module.backward_device_ns},
                {"self_device_ns", module.self_device_ns}};
  });
}

Json kernels_of(const Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const KernelRow& row : diagnosis.kernels.rows) {
    if (list.size() == kMostKernels) break;
    const bool is_known = row.traits.precision != Precision::kUnknown;
    list.push_back({{"name", row.name},
                    {"class", name_of(row.work)},
                    {"precision", is_known ? Json(name_of(row.traits.precision)) : Json(nullptr)},
                    {"uses_tensor_cores", row.traits.uses_tensor_cores},
                    {"calls", row.calls},
                    {"device_ns", row.device_ns},
                    {"mean_ns", rounded(row.mean_ns)},
                    {"occupancy_percent", or_null_rounded(row.occupancy_percent)},
                    {"blocks_per_multiprocessor", or_null_rounded(row.blocks_per_multiprocessor)},
                    {"waves", or_null_rounded(row.waves)},
                    {"flops_per_second", or_null_rounded(row.flops_per_second)},
                    {"bytes_per_second", or_null_rounded(row.bytes_per_second)},
                    {"roofline_percent", or_null_rounded(row.roofline_percent)},
                    {"example", event_or_null(row.example)}});
  }
  return list;
}

Json saving_of(const Diagnosis& diagnosis, const Saving& saving) {
  return {{"low_ns", saving.low},
          {"likely_ns", saving.likely},
          {"high_ns", saving.high},
          {"low_percent", rounded(saving_percent(diagnosis, saving.low))},
          {"likely_percent", rounded(saving_percent(diagnosis, saving.likely))},
          {"high_percent", rounded(saving_percent(diagnosis, saving.high))}};
}

Json evidence_of(const Finding& finding, const Trace& trace) {
  Json list = Json::array();
  for (const EventId event : finding.evidence) {
    if (event >= trace.events.size()) continue;
    list.push_back({{"event", event},
                    {"name", trace.name(event)},
                    {"start_ns", trace.events.start[event]},
                    {"duration_ns", trace.events.duration[event]}});
  }
  return list;
}

Json findings_of(const Diagnosis& diagnosis, const Trace& trace) {
  return list_of(diagnosis.findings, [&](const Finding& finding) {
    const auto& source = finding.source;
    return Json{
        {"rule", finding.rule},
        {"title", finding.title},
        {"explanation", finding.explanation},
        {"saving", saving_of(diagnosis, finding.saving)},
        {"confidence", name_of(finding.confidence)},
        {"evidence", evidence_of(finding, trace)},
        {"source",
         source ? Json{{"file", source->file}, {"line", source->line}, {"function", source->function}} : Json(nullptr)},
        {"fix", {{"id", finding.fix.id}, {"text", finding.fix.text}, {"code", finding.fix.code}}},
        {"also_explains", finding.also_explains},
    };
  });
}

Json queue_of(const LaunchQueue& queue) {
  return {{"mean_depth", rounded(queue.mean_depth)},
          {"share_empty", rounded(queue.share_empty)},
          {"launch_latency_ns", queue.launch_latency}};
}

Json syncs_of(const Diagnosis& diagnosis, const Trace& trace) {
  return list_of(sync_rows(trace, diagnosis.timing, diagnosis.syncs), [](const SyncRow& row) {
    return Json{{"name", row.name},
                {"calls", rounded(row.calls)},
                {"waited_ns", row.waited_ns},
                {"idle_ns", row.idle_ns},
                {"example", event_or_null(row.example)}};
  });
}

Json copies_of(const Diagnosis& diagnosis) {
  return list_of(diagnosis.copies.rows, [](const CopyRow& row) {
    return Json{{"direction", name_of(row.direction)},
                {"is_pageable", row.is_pageable},
                {"calls", rounded(row.calls)},
                {"bytes", rounded(row.bytes)},
                {"duration_ns", row.duration_ns},
                {"exposed_ns", row.exposed_ns},
                {"host_blocked_ns", row.host_blocked_ns},
                {"bytes_per_second", rounded(row.bytes_per_second)}};
  });
}

Json memory_of(const std::optional<MemorySummary>& memory) {
  if (!memory) return nullptr;
  Json curve = list_of(memory->curve,
                       [](const MemoryPoint& point) { return Json{point.time, point.allocated, point.reserved}; });
  return {{"device", memory->device},
          {"peak_allocated_bytes", memory->peak_allocated},
          {"peak_reserved_bytes", memory->peak_reserved},
          {"reserved_at_peak_bytes", memory->reserved_at_peak},
          {"peak_time_ns", memory->peak_time},
          {"step_minimum_bytes", memory->step_minimum},
          {"step_peak_bytes", memory->step_peak},
          {"growth_bytes_per_step", or_null_rounded(memory->growth_per_step)},
          {"device_allocations", rounded(memory->device_allocations)},
          {"device_frees", rounded(memory->device_frees)},
          {"allocator_call_ns", memory->allocator_call_ns},
          {"curve", curve}};
}

Json threads_of(const HostActivity& host) {
  constexpr std::size_t kMostScopes = 20;
  return list_of(host.threads, [&](const ThreadActivity& thread) {
    const auto most = thread.scopes | std::views::take(kMostScopes);
    return Json{{"track", thread.track},
                {"name", thread.name},
                {"busy_ns", thread.busy_ns},
                {"busy_percent", rounded(host.busy_percent(thread))},
                {"scopes", list_of(most, [](const ScopeTime& scope) {
                   return Json{{"name", scope.name},
                               {"calls", scope.calls},
                               {"own_ns", scope.own_ns},
                               {"longest", event_or_null(scope.longest)}};
                 })}};
  });
}

Json waiting_of(const std::optional<SpanWaiting>& waiting) {
  if (!waiting) return nullptr;
  return {{"spans", waiting->spans},
          {"total_ns", waiting->total_ns},
          {"waiting_ns", waiting->waiting_ns},
          {"waiting_percent", rounded(waiting->waiting_percent())},
          {"beside_idle_ns", waiting->beside_idle_ns},
          {"p50_ns", waiting->p50_ns},
          {"p99_ns", waiting->p99_ns},
          {"served_in", waiting->served_in},
          {"threads", waiting->threads},
          {"busy_percent", rounded(waiting->busy_percent)}};
}

Json latencies_of(const std::vector<SpanLatency>& latencies) {
  return list_of(latencies, [](const SpanLatency& latency) {
    return Json{{"name", latency.name},
                {"is_async", latency.is_async},
                {"count", latency.count},
                {"unfinished", latency.unfinished},
                {"p50_ns", latency.p50_ns},
                {"p90_ns", latency.p90_ns},
                {"p99_ns", latency.p99_ns},
                {"max_ns", latency.max_ns},
                {"total_ns", latency.total_ns},
                {"longest", event_or_null(latency.longest)},
                {"waiting", waiting_of(latency.waiting)}};
  });
}

Json counters_of(const std::vector<CounterSummary>& counters) {
  return list_of(counters, [](const CounterSummary& counter) {
    return Json{{"name", counter.name},
                {"series", counter.series},
                {"values", counter.values},
                {"mean", rounded(counter.mean)},
                {"minimum", rounded(counter.minimum)},
                {"maximum", rounded(counter.maximum)},
                {"last", rounded(counter.last)}};
  });
}

Json communication_of(const Communication& communication) {
  return {{"total_ns", communication.total_ns},
          {"exposed_ns", communication.exposed_ns},
          {"overlap_percent", rounded(communication.overlap_percent())},
          {"collectives", list_of(communication.rows, [](const CollectiveRow& row) {
             return Json{{"name", row.name},
                         {"calls", rounded(row.calls)},
                         {"bytes", or_null_rounded(row.bytes)},
                         {"device_ns", row.device_ns},
                         {"exposed_ns", row.exposed_ns}};
           })}};
}

}  // namespace

std::string to_json(const Diagnosis& diagnosis, const Trace& trace) {
  return in_lines({
      {"schema", "telltale.analyze/1"},
      {"trace", trace_of(diagnosis, trace)},
      {"step", step_of(diagnosis)},
      {"steps", steps_of(diagnosis)},
      {"breakdown", breakdown_of(diagnosis)},
      {"idle", idle_of(diagnosis)},
      {"devices", devices_of(diagnosis)},
      {"phases", phases_of(diagnosis)},
      {"modules", modules_of(diagnosis)},
      {"kernels", kernels_of(diagnosis)},
      {"findings", findings_of(diagnosis, trace)},
      {"remarks", diagnosis.remarks},
      {"queue", queue_of(diagnosis.queue)},
      {"syncs", syncs_of(diagnosis, trace)},
      {"copies", copies_of(diagnosis)},
      {"communication", communication_of(diagnosis.communication)},
      {"memory", memory_of(diagnosis.memory)},
      {"threads", threads_of(diagnosis.host)},
      {"latencies", latencies_of(diagnosis.latencies)},
      {"counters", counters_of(diagnosis.counters)},
  });
}

}  // namespace telltale
