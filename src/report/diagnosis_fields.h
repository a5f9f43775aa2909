// What the members of a diagnosis are: telltale.analyze/1. See description.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "advise/diagnosis.h"
#include "report/description.h"
#include "report/energy_fields.h"
#include "report/result_fields.h"

namespace telltale {

inline constexpr std::size_t kMostKernelsDescribed = 100;
inline constexpr std::size_t kMostScopesDescribed = 20;

template <typename Item>
std::span<const Item> first_of(const std::vector<Item>& items, std::size_t most) {
  return std::span(items).first(std::min(items.size(), most));
}

template <typename Fields>
void describe(Fields& fields, const AnomalyTally& tally) {
  fields.object("AnomalyCount", "Something that could not be taken as it stands, and how often");
  fields.member("kind", tally.kind, "what it is; `telltale info` describes it and has an example");
  fields.member("severity", severity_of(tally.kind), "`lost` or `repaired`");
  fields.member("count", tally.count, "how often");
}

struct TraceOf {
  const Diagnosis& diagnosis;
};

template <typename Fields>
void describe(Fields& fields, const TraceOf& of) {
  const DiagnosedTrace& trace = of.diagnosis.trace;
  std::vector<std::optional<std::string_view>> devices;
  for (const std::string& name : trace.devices) devices.push_back(or_null(name));
  fields.object("DiagnosedTrace", "The trace that was diagnosed");
  fields.member("path", of.diagnosis.path, "the file as it was named; `-` is standard input");
  fields.member("events", trace.events, "how many it has");
  fields.member("duration_ns", trace.duration_ns, "from the start of the first event to the end of the last");
  fields.member("devices", devices, "their names, null where the file does not say");
  fields.member("anomalies", trace.anomalies, "what was lost or repaired; `telltale info` also lists what is normal");
}

struct StepOf {
  const Diagnosis& diagnosis;
};

template <typename Fields>
void describe(Fields& fields, const StepOf& of) {
  const Diagnosis& diagnosis = of.diagnosis;
  fields.object("StepSummary", "A step: as recorded, and as it would be without the profiler");
  fields.member("count", diagnosis.timing.steps.size(), "how many steps the numbers are about");
  fields.member("mean_ns", diagnosis.recorded_ns,
                "a step as it was recorded: the period with which the program repeats itself, which is the device's "
                "where the host runs ahead of it");
  fields.member("median_ns", diagnosis.timing.median, "the median of the same");
  fields.member(
      "unobserved_ns", diagnosis.unobserved_ns,
      "a step as it would have been without the profiler: measured where steps of the program ran unrecorded, "
      "else by our model of what recording costs");
  fields.member("unobserved_low_ns", diagnosis.unobserved_low_ns,
                "the least that it may be: the fastest of the measured steps, or the estimate if recording cost more");
  fields.member("unobserved_high_ns", diagnosis.unobserved_high_ns,
                "the most that it may be: the slowest of the measured steps, or the estimate if recording cost less");
  fields.member("unobserved_source", diagnosis.unobserved_source,
                "how it is known: `measured`, `estimated`, or `recorded` where recording cost nothing");
  fields.member("unrecorded_steps", diagnosis.unrecorded_steps,
                "over how many unrecorded steps it was measured; 0 where it was not");
  fields.member("slowdown_percent", diagnosis.slowdown_percent(),
                "how much slower recording made the step: by how much of `unobserved_ns` the two differ");
  fields.member("observer_percent", diagnosis.observer_percent(), "by how much of `mean_ns` the two differ");
  fields.member(
      "source", diagnosis.timing.source,
      "what the steps are: `marks` (annotations: ProfilerStep#, or a framework's own), `optimizer` (from one "
      "optimizer step to the next), `pattern` (what repeats at the outermost level of the busiest thread), "
      "`parts` (a single pass that warms up: its alike parts), `whole_trace` (nothing repeats: the trace counts as "
      "one step)");
}

template <typename Fields>
void describe(Fields& fields, const StepSpan& step) {
  fields.object("StepTime", "One step on the host, and the work that it launched");
  fields.member("index", step.index, "the number in its mark, or its place");
  fields.member("start_ns", step.host.begin, "when it starts on the host");
  fields.member("duration_ns", step.host.length(), "how long it takes there, up to the next one");
  fields.member("device_busy_ns", step.device_busy, "how long the work that it launched occupies a device");
  fields.member("is_outlier", step.is_outlier, "whether it is unlike the others, as steps that warm up are");
  fields.member("is_cut", step.is_cut,
                "whether it waits for work of before the recording, or its own was not recorded to the end");
  fields.member("is_counted", step.is_counted,
                "whether the numbers are about it; not so for outliers and for steps that a pause or an outlier parts "
                "from the longest run");
}

template <typename Fields>
void describe(Fields& fields, const BreakdownPart& part) {
  fields.object("BreakdownPart", "A part of a step's recorded time; the parts add up to it");
  fields.member("category", part.category(), "`matmul`, `idle_sync`, …: what the device does or waits for");
  fields.member("ns", part.ns, "the time");
  fields.member("percent", part.percent, "of the recorded step");
  fields.member("is_idle", part.is_idle, "whether the device waits meanwhile; never so in a trace without device work");
}

template <typename Fields>
void describe(Fields& fields, const DeviceUse& device) {
  fields.object("DeviceUse", "How busy a device is in a step");
  fields.member("id", device.id, "as the recorder numbers it");
  fields.member("name", or_null(device.name), "its model");
  fields.member("busy_ns", device.busy_ns, "in which it has work, each instant once");
  fields.member("idle_ns", device.idle_ns, "the rest of the step");
  fields.member("utilization_percent", device.utilization_percent(), "how much of the step it is busy");
  fields.member("kernels", device.kernels, "that start in a step, rounded");
}

template <typename Fields>
void describe(Fields& fields, const PhaseTime& phase) {
  fields.object("PhaseTime", "A phase of the step");
  fields.member("phase", phase.phase, "`data`, `copy`, `forward`, `backward`, `optimizer` or `other`");
  fields.member("cpu_ns", phase.cpu_ns, "on the threads that work for it");
  fields.member("device_ns", phase.device_ns, "of the device work launched in it");
}

template <typename Fields>
void describe(Fields& fields, const ModuleTime& module) {
  const bool has_parent = module.parent != ModuleTime::kNoParent;
  fields.object("ModuleTime", "A module of the model; its times include what is called inside");
  fields.member("name", module.name, "as the recorder names it");
  fields.member("path", module.path, "with the modules around it; past 2,000 bytes, `…` and the innermost");
  fields.member("parent", has_parent ? std::optional(module.parent) : std::nullopt,
                "the index of the module around it in this list");
  fields.member("depth", module.depth, "how many modules are around it");
  fields.member("calls", module.calls, "in all steps together");
  fields.member("forward_cpu_ns", module.forward_cpu_ns, "host time of the forward pass");
  fields.member("forward_device_ns", module.forward_device_ns, "device time of the forward pass");
  fields.member("backward_cpu_ns", module.backward_cpu_ns, "host time of the backward pass");
  fields.member("backward_device_ns", module.backward_device_ns, "device time of the backward pass");
  fields.member("self_device_ns", module.self_device_ns, "device time of both passes that no module inside takes");
}

template <typename Fields>
void describe(Fields& fields, const KernelRow& row) {
  const bool has_precision = row.traits.precision != Precision::kUnknown;
  fields.object("KernelTime", "Device work of one name and class");
  fields.member("name", row.name, "the kernel, or the sort of copy");
  fields.member("class", row.work, "its class, as in `breakdown`");
  fields.member("precision", has_precision ? std::optional(row.traits.precision) : std::nullopt,
                "`fp64`, `fp32`, `tf32`, `fp16`, `bf16`, `fp8`, `int8`, as far as its name and its operator's types "
                "tell");
  fields.member("uses_tensor_cores", row.traits.uses_tensor_cores, "whether its name says so");
  fields.member("calls", row.calls, "in all steps together");
  fields.member("device_ns", row.device_ns, "a step, summed over calls");
  fields.member("mean_ns", row.mean_ns, "a call");
  fields.member("occupancy_percent", row.occupancy_percent, "how well launches fill multiprocessors, by time");
  fields.member("blocks_per_multiprocessor", row.blocks_per_multiprocessor, "of a launch, by time");
  fields.member("waves", row.waves, "rounds of blocks that a launch takes, by time; below 1 some room stays empty");
  fields.member("flops_per_second", row.flops_per_second, "by the shapes of its operator, where they were recorded");
  fields.member("bytes_per_second", row.bytes_per_second, "likewise");
  fields.member("roofline_percent", row.roofline_percent, "100 is as fast as the device's peaks allow");
  fields.member("example", event_or_null(row.example), "the number of the event that is its longest call");
}

template <typename Fields>
void describe(Fields& fields, const Saving& saving) {
  fields.object("Saving",
                "What a fix alone would buy in a step; all zero where a finding is about memory or trust. Savings "
                "overlap and must not be added up");
  fields.member("low_ns", saving.low, "at least");
  fields.member("likely_ns", saving.likely, "our best estimate");
  fields.member("high_ns", saving.high, "at most");
  fields.member("low_percent", saving.low_percent, "the same of `step.unobserved_ns`");
  fields.member("likely_percent", saving.likely_percent, "likewise");
  fields.member("high_percent", saving.high_percent, "likewise");
}

template <typename Fields>
void describe(Fields& fields, const EventRow& row) {
  fields.object("Evidence", "An event that shows what a finding is about");
  fields.member("event", row.event, "its number");
  fields.member("name", row.name, "its name");
  fields.member("start_ns", row.start_ns, "when it starts");
  fields.member("duration_ns", row.duration_ns, "how long it takes");
}

template <typename Fields>
void describe(Fields& fields, const Fix& fix) {
  fields.object("Fix", "What to change, in words and as code");
  fields.member("id", fix.id, "a word of a fixed vocabulary");
  fields.member("text", fix.text, "a sentence");
  fields.member("code", fix.code, "a short change with `- ` and `+ ` where something is replaced; may be empty");
}

template <typename Fields>
void describe(Fields& fields, const FindingPart& part) {
  fields.object("FindingPart", "What another rule found that the fix of a finding mends as well");
  fields.member("rule", part.rule, "its rule");
  fields.member("title", part.title, "what is wrong");
  fields.member("explanation", part.explanation, "the same with its numbers");
  fields.member("saving", part.saving, "what `fix` would buy; part of what the finding's buys");
  fields.member("fix", part.fix_id, "the finding's fix, or `compile` and `compile_graphs` for one another");
}

template <typename Fields>
void describe(Fields& fields, const Finding& finding) {
  fields.object("Finding", "Something that makes the program slow, and what its fix would buy");
  fields.member("rule", finding.rule, "its rule; `telltale analyze --explain RULE` tells what it looks for");
  fields.member("title", finding.title, "what is wrong");
  fields.member("explanation", finding.explanation, "the same with its numbers");
  fields.member("saving", finding.saving, "what its fix alone would buy");
  fields.member("saving_bytes", finding.saving_bytes,
                "by how much the peak of memory falls with it; 0 where that is not the point");
  fields.member("cost_ns", finding.cost, "what a fix that saves memory costs in time, in a step; null: not known");
  fields.member("confidence", finding.confidence, "`low`, `medium` or `high`");
  fields.events("evidence", finding.evidence, "up to eight events, the most telling first");
  fields.member("source", finding.source, "the line of the user's code");
  fields.member("fix", finding.fix, "what to change");
  fields.member("parts", finding.parts, "what other rules found that the same change mends, by falling saving");
  fields.member("also_explains", finding.also_explains, "rules with another fix whose findings this one would mend");
}

template <typename Fields>
void describe(Fields& fields, const LaunchQueue& queue) {
  fields.object("LaunchQueue", "Work that is launched and waits for the device");
  fields.member("mean_depth", queue.mean_depth, "how much of it there is, over time");
  fields.member("empty_percent", 100 * queue.share_empty, "of the time, with at most one waiting");
  fields.member("launch_latency_ns", queue.launch_latency,
                "from the start of a call to that of its kernel, where the stream has nothing else to do; the median");
}

template <typename Fields>
void describe(Fields& fields, const SyncRow& row) {
  fields.object("Sync", "Waits of the host for the device, by what waits");
  fields.member("name", row.name, "the operator around the call that waits, or the call itself");
  fields.member("calls", row.calls, "in a step");
  fields.member("waited_ns", row.waited_ns, "how long the host waits");
  fields.member("idle_ns", row.idle_ns, "that the device then spends idle");
  fields.member("example", event_or_null(row.example), "the number of the event with the longest idle time behind it");
}

template <typename Fields>
void describe(Fields& fields, const CopyRow& row) {
  fields.object("Copies", "Copies in one direction");
  fields.member("direction", row.direction, "`host_to_device`, `device_to_host`, `device_to_device` or `other`");
  fields.member("is_pageable", row.is_pageable, "whether the host's memory is not pinned");
  fields.member("calls", row.calls, "in a step");
  fields.member("bytes", row.bytes, "in a step");
  fields.member("duration_ns", row.duration_ns, "in a step");
  fields.member("exposed_ns", row.exposed_ns, "of that, while the device does nothing else");
  fields.member("host_blocked_ns", row.host_blocked_ns, "how long the host stands in these calls");
  fields.member("bytes_per_second", row.bytes_per_second, "while copying");
}

template <typename Fields>
void describe(Fields& fields, const CollectiveRow& row) {
  fields.object("Collective", "Collectives of one name");
  fields.member("name", row.name, "the collective, or its kernel where the file says no more");
  fields.member("calls", row.calls, "in a step");
  fields.member("bytes", row.bytes, "sent in a step, by the calls that say so");
  fields.member("device_ns", row.device_ns, "each instant once");
  fields.member("exposed_ns", row.exposed_ns, "of that, while the device computes nothing");
}

template <typename Fields>
void describe(Fields& fields, const Communication& communication) {
  fields.object("Communication", "Communication, and how much of it nothing hides");
  fields.member("total_ns", communication.total_ns, "each instant once");
  fields.member("exposed_ns", communication.exposed_ns, "of that, while the device computes nothing");
  fields.member("overlap_percent", communication.overlap_percent(), "of it that computing hides; null without any");
  fields.member("collectives", communication.rows, "by name, by falling time");
}

template <typename Fields>
void describe(Fields& fields, const MemorySummary& memory) {
  std::vector<std::array<std::int64_t, 3>> curve;
  for (const MemoryPoint& point : memory.curve) curve.push_back({point.time, point.allocated, point.reserved});
  fields.object("Memory", "Memory of the device with the highest peak or, without device work, of the host");
  fields.member("device", memory.device, "its id; -1: the host");
  fields.member("peak_allocated_bytes", memory.peak_allocated, "the most that tensors took");
  fields.member("peak_reserved_bytes", memory.peak_reserved, "the most that the allocator held");
  fields.member("reserved_at_peak_bytes", memory.reserved_at_peak, "what it held when tensors took most");
  fields.member("peak_time_ns", memory.peak_time, "when that was");
  fields.member("step_minimum_bytes", memory.step_minimum, "the least allocated, by step");
  fields.member("step_peak_bytes", memory.step_peak, "the most allocated, by step");
  fields.member("growth_bytes_per_step", memory.growth_per_step, "of the minima, with three steps or more");
  fields.member("device_allocations", memory.device_allocations, "calls of `cudaMalloc` in a step");
  fields.member("device_frees", memory.device_frees, "calls of `cudaFree` in a step");
  fields.member("allocator_call_ns", memory.allocator_call_ns, "in those calls");
  fields.member("curve", curve,
                "`[time_ns, allocated_bytes, reserved_bytes]` at up to a few thousand times, peaks kept");
}

template <typename Fields>
void describe(Fields& fields, const ScopeTime& scope) {
  fields.object("ScopeTime", "What a thread does under one name");
  fields.member("name", scope.name, "its name");
  fields.member("calls", scope.calls, "that start in a step");
  fields.member("own_ns", scope.own_ns, "without the calls inside");
  fields.member("longest", event_or_null(scope.longest), "the number of the longest event");
}

struct ThreadOf {
  const ThreadActivity* thread = nullptr;
  double busy_percent = 0;
};

template <typename Fields>
void describe(Fields& fields, const ThreadOf& of) {
  static const auto& kNone = *new ThreadActivity;
  const ThreadActivity& thread = of.thread == nullptr ? kNone : *of.thread;
  fields.object("ThreadActivity", "What a thread of the host does in a step");
  fields.member("track", thread.track, "its id, as in telltale.info/1");
  fields.member("name", thread.name, "its name");
  fields.member("busy_ns", thread.busy_ns, "in anything that was recorded, marks of steps aside");
  fields.member("busy_percent", of.busy_percent, "of the step");
  fields.member("scopes", first_of(thread.scopes, kMostScopesDescribed), "up to 20, by falling own time");
}

template <typename Fields>
void describe(Fields& fields, const SpanWaiting& waiting) {
  fields.object("Waiting", "How long spans wait for what serves them");
  fields.member("spans", waiting.spans, "how many it is known of");
  fields.member("total_ns", waiting.total_ns, "how long these take together");
  fields.member("waiting_ns", waiting.waiting_ns, "how much of that passed until what served them began");
  fields.member("waiting_percent", waiting.waiting_percent(), "the same of `total_ns`");
  fields.member("beside_idle_ns", waiting.beside_idle_ns, "of `waiting_ns`, while a thread that serves was idle");
  fields.member("p50_ns", waiting.p50_ns, "the median of a single wait");
  fields.member("p99_ns", waiting.p99_ns, "99 % wait at most this long");
  fields.member("served_in", waiting.served_in, "the name of what serves most of them");
  fields.member("threads", waiting.threads, "the ids of the tracks that serve");
  fields.member("busy_percent", waiting.busy_percent, "how busy these threads are, the mean");
}

template <typename Fields>
void describe(Fields& fields, const SpanLatency& latency) {
  fields.object("Latency", "How long something that repeats takes; of all steps together");
  fields.member("name", latency.name, "its name");
  fields.member("is_async", latency.is_async, "whether it belongs to no thread");
  fields.member("count", latency.count, "how many there are");
  fields.member("unfinished", latency.unfinished, "how many more have no end in the trace");
  fields.member("p50_ns", latency.p50_ns, "the median; all by the nearest rank");
  fields.member("p90_ns", latency.p90_ns, "90 % take at most this");
  fields.member("p99_ns", latency.p99_ns, "99 % take at most this");
  fields.member("max_ns", latency.max_ns, "the longest");
  fields.member("total_ns", latency.total_ns, "all together");
  fields.member("longest", event_or_null(latency.longest), "the number of the longest event");
  fields.member("waiting", latency.waiting, "of spans that an arrow ties to what served them");
}

template <typename Fields>
void describe(Fields& fields, const WaitTime& wait) {
  fields.object("RequestWait", "What threads that serve wait for");
  fields.member("what", wait.what, "lock, socket, poll, pipe, file, process, sleep or other");
  fields.member("ns", wait.ns, "of all these threads together");
}

template <typename Fields>
void describe(Fields& fields, const Requests& requests) {
  fields.object("Requests", "What a server answers, found as calls of its model; of all steps together");
  fields.member("name", requests.name, "the module's class, or the function that calls modules several times");
  fields.member("count", static_cast<std::int64_t>(requests.events.size()), "how many there are");
  fields.member("calls", requests.calls, "of modules that stand in no other one, in a request");
  fields.member("p50_ns", requests.p50_ns, "the median; both by the nearest rank");
  fields.member("p99_ns", requests.p99_ns, "99 % take at most this");
  fields.member("per_second", requests.per_second(), "how many come, from the first start to the last end");
  fields.member("threads", requests.threads, "the ids of the tracks that serve");
  fields.member("busy_percent", requests.busy_percent, "of these threads' time, within requests");
  fields.member("most_at_once", requests.most_at_once, "the most that run at one time");
  fields.member("mean_at_once", requests.mean_at_once, "while there is any");
  fields.member("rows", requests.rows, "samples of the first layer, in most requests; null when not known");
  fields.member("are_on_event_loop", requests.are_on_event_loop, "whether they run where asyncio's loop does");
  fields.member("waits_between", requests.waits_between, "between requests, by falling time");
  fields.member("waits_inside", requests.waits_inside, "within requests, by falling time");
}

template <typename Fields>
void describe(Fields& fields, const CounterSummary& counter) {
  fields.object("Counter", "Values of a counter, of all steps together");
  fields.member("name", counter.name, "its name");
  fields.member("series", counter.series, "the name of its values");
  fields.member("values", counter.values, "how many there are");
  fields.member("mean", counter.mean, "over time: a value holds until the next");
  fields.member("minimum", counter.minimum, "the least value");
  fields.member("maximum", counter.maximum, "the greatest value");
  fields.member("last", counter.last, "the last value");
}

template <typename Fields>
void describe(Fields& fields, const BlindRule& rule) {
  std::vector<std::string_view> lacks;
  for (const Need need : rule.lacks) lacks.push_back(name_of(need));
  fields.object("BlindRule", "A rule that could not look at the trace");
  fields.member("rule", rule.id, "its id");
  fields.member("lacks", lacks,
                "what it cannot do without: `shapes`, `stacks`, `memory`, `modules`, `collections`, or `steps` where "
                "there are fewer than three");
}

template <typename Fields>
void describe(Fields& fields, const Look& look) {
  fields.object("Look", "Which rules had what they need");
  fields.member("rules", look.rules, "how many looked; those that do not apply, as to a trace without a GPU, aside");
  fields.member("blind", look.blind, "those that could not look");
  fields.member("remedy", or_null(look.remedy), "what lets them look next time, in the words of whoever recorded");
}

template <typename Fields>
void describe(Fields& fields, const HostWait& wait) {
  fields.object("HostWait", "Waits of the host for anything but the device, the data loader and other ranks");
  fields.member("waits_for", wait.what, "`sleep`, `lock`, `socket`, `pipe`, `file`, `process`, `poll` or `other`");
  fields.member("source", wait.source, "the line that waits; null where the trace does not say");
  fields.member("ns", wait.ns, "in a step");
  fields.member("percent", wait.percent, "of the recorded step");
  fields.member("example", event_or_null(wait.calls.empty() ? kNoEvent : wait.calls.front()),
                "the number of the longest event");
}

template <typename Fields>
void describe(Fields& fields, const Diagnosis& diagnosis) {
  std::vector<ThreadOf> threads;
  for (const ThreadActivity& thread : diagnosis.host.threads)
    threads.push_back({&thread, diagnosis.host.busy_percent(thread)});
  fields.answer("telltale.analyze/1", "Diagnosis", "Why a program is slow, and what each fix would buy");
  fields.member("trace", TraceOf{diagnosis}, "the trace");
  fields.member("step", StepOf{diagnosis}, "how long a step takes");
  fields.member("steps", all_steps(diagnosis.timing), "one by one, also those that do not count");
  fields.member("breakdown", diagnosis.breakdown.parts(),
                "where the recorded step's time goes, each instant once; the `ns` add up to `step.mean_ns`, exactly. "
                "Only what is not zero: first what the busiest device does, then what it waits for, each by falling "
                "time");
  fields.member("devices", diagnosis.devices, "those with work");
  fields.member("phases", diagnosis.phases, "of a step");
  fields.member("modules", diagnosis.modules,
                "as a tree, parents before children; empty when no modules were recorded");
  fields.member("kernels", first_of(diagnosis.kernels.rows, kMostKernelsDescribed),
                "device work by name and class, the 100 rows of most time");
  fields.member("findings", diagnosis.findings,
                "what would help, by falling `saving.likely_ns`; those about memory and trust come last");
  fields.member("look", diagnosis.look, "which rules looked, and which could not: their silence says nothing");
  fields.member("remarks", diagnosis.remarks, "sentences: what a reader should know before trusting the rest");
  fields.member("queue", diagnosis.queue, "work that waits for the device");
  fields.member("syncs", diagnosis.sync_rows, "by falling idle time");
  fields.member("waits", diagnosis.waits, "of the host, by line and what is waited for, by falling time");
  fields.member("copies", diagnosis.copies.rows, "by direction");
  fields.member("communication", diagnosis.communication, "with other processes");
  fields.member("memory", diagnosis.memory,
                "null when no memory of a device, or of the host without one, was recorded");
  fields.member("threads", threads, "of the host, the busiest first");
  fields.member("latencies", diagnosis.latencies,
                "requests and other spans that belong to no thread come first, then scopes at the top of threads that "
                "come at least three times; each by falling `total_ns`");
  fields.member("requests", diagnosis.requests, "of a server that marks none; null for other programs");
  fields.member("counters", diagnosis.counters, "those that have a value; gauges are told of by `energy`");
  fields.member("energy", diagnosis.energy, "null when no gauges were read");
  fields.member("cost", diagnosis.cost, "null without a price, or when energy is not known");
}

}  // namespace telltale
