// What the members of the answers of `telltale info`, `top` and `whatif` are. See description.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/key_averages.h"
#include "analysis/trace_info.h"
#include "replay/what_if.h"
#include "report/description.h"

namespace telltale {

template <typename Fields>
void describe(Fields& fields, const SourceLine& source) {
  fields.object("SourceLine", "A line of the user's code");
  fields.member("file", source.file, "its path, as the recorder has it");
  fields.member("line", source.line, "its number; where only calls are known, that of the function");
  fields.member("function", source.function, "the function around it");
}

template <typename Fields>
void describe(Fields& fields, const StepInfo& step) {
  fields.object("StepInfo", "A step that the recorder marked");
  fields.member("index", step.index, "the number in its name, or its place");
  fields.member("name", step.name, "the name of its mark");
  fields.member("start_ns", step.start_ns, "when it starts");
  fields.member("duration_ns", step.duration_ns, "how long it takes on the host");
}

template <typename Fields>
void describe(Fields& fields, const Device& device) {
  fields.object("DeviceInfo", "A device, as far as the file describes it");
  fields.member("id", device.id, "as the recorder numbers it");
  fields.member("name", or_null(device.name), "its model");
  fields.member("memory_bytes", device.memory_bytes, "how much it has");
  fields.member("compute_major", device.compute_major, "the major number of its compute capability");
  fields.member("compute_minor", device.compute_minor, "the minor number of its compute capability");
  fields.member("multiprocessors", device.multiprocessors, "how many");
  fields.member("warp_size", device.warp_size, "threads of a warp");
  fields.member("max_threads_per_multiprocessor", device.max_threads_per_multiprocessor, "at a time");
  fields.member("registers_per_multiprocessor", device.registers_per_multiprocessor, "how many");
  fields.member("shared_memory_per_multiprocessor", device.shared_memory_per_multiprocessor, "in bytes");
}

template <typename Fields>
void describe(Fields& fields, const ProcessInfo& process) {
  fields.object("ProcessInfo", "A process");
  fields.member("pid", process.pid, "its number; 0 where the file has text instead");
  fields.member("name", or_null(process.name), "its name");
  fields.member("labels", or_null(process.labels), "what else the file calls it");
}

template <typename Fields>
void describe(Fields& fields, const TrackInfo& track) {
  fields.object("TrackInfo", "A thread, a stream or another line of events");
  fields.member("id", track.id, "its number in this list");
  fields.member("name", track.name, "its name");
  fields.member("kind", track.kind, "`thread`, `stream`, `async`, `counter` or `recording`");
  fields.member("process", track.process, "the index of its process in `processes`");
  fields.member("device", track.device, "the device of a stream");
  fields.member("native_id", track.native_id, "thread id or stream number");
  fields.member("events", track.events, "how many it has");
}

template <typename Fields>
void describe(Fields& fields, const Recorded& recorded) {
  fields.object("RecordedInfo", "What was recorded besides times");
  fields.member("shapes", recorded.shapes, "shapes of the inputs of operators");
  fields.member("stacks", recorded.stacks, "Python calls or stacks of operators");
  fields.member("memory", recorded.memory, "allocations and frees");
  fields.member("modules", recorded.modules, "calls of modules");
  fields.member("flops", recorded.flops, "floating-point operations");
  fields.member("sampled", recorded.sampled,
                "Python calls are seen by samples and at operators: how many there were is not known");
}

template <typename Fields>
void describe(Fields& fields, const ProcessGroup& group) {
  fields.object("ProcessGroup", "Processes that communicate with each other");
  fields.member("name", group.name, "its name");
  fields.member("description", or_null(group.description), "what it is for");
  fields.member("backend", or_null(group.backend), "what it communicates by");
  fields.member("size", group.size, "how many processes it has");
  fields.member("ranks", group.ranks, "the ranks of its processes");
}

template <typename Fields>
void describe(Fields& fields, const Distributed& distributed) {
  fields.object("Distributed", "This process's place among others");
  fields.member("backend", or_null(distributed.backend), "what they communicate by");
  fields.member("rank", distributed.rank, "the rank of this process");
  fields.member("world_size", distributed.world_size, "how many processes there are");
  fields.member("nccl_version", or_null(distributed.nccl_version), "the version of NCCL");
  fields.member("groups", distributed.groups, "groups of processes");
}

template <typename Fields>
void describe(Fields& fields, const AnomalyExample& example) {
  fields.object("AnomalyExample", "Where the file has an anomaly first");
  fields.member("byte_offset", example.byte_offset, "in the decompressed text");
  fields.member("text", example.text, "a short quote, or the name of the event");
}

template <typename Fields>
void describe(Fields& fields, const AnomalyCount& anomaly) {
  fields.object("Anomaly", "Something that could not be taken as it stands, and how often");
  fields.member("kind", anomaly.anomaly, "what it is");
  fields.member("severity", severity_of(anomaly.anomaly),
                "`lost`, `repaired` or `note`; notes are normal for the file's writer");
  fields.member("count", anomaly.count, "how often");
  fields.member("example", anomaly.example, "the first one");
  fields.member("description", description_of(anomaly.anomaly), "a sentence: what it is and what was done about it");
}

template <typename Fields>
void describe(Fields& fields, const DeviceClock& clock) {
  fields.object("DeviceClock", "How well times of the device agree with those of the host");
  fields.member("samples", clock.samples, "how often both clocks were read");
  fields.member("drift_ppm", clock.drift_ppm, "by which the device's clock is faster, in millionths; taken out");
  fields.member("residual_ns", clock.residual_ns, "by which times may still differ");
}

template <typename Fields>
void describe(Fields& fields, const TraceInfo& info) {
  fields.answer("telltale.info/1", "Info", "What a trace holds");
  fields.member("path", info.path, "the file as it was named; `-` is standard input");
  fields.member("format", info.format,
                "what the trace was first written as: `kineto`, the JSON of PyTorch's profiler, `chrome`, a Chrome "
                "trace of another tool, or `tell`, a recording of Telltale's own");
  fields.member("bytes", info.bytes, "size of the file as it is stored; null for standard input");
  fields.member("text_bytes", info.text_bytes, "size of its text, decompressed");
  fields.member("tool", or_null(info.tool), "what recorded it, where the file tells");
  fields.member("versions", info.versions,
                "by name, those that the file has: `cuda_runtime`, `cuda_driver`, `cupti`, `hip_runtime`, "
                "`hip_driver`, `roctracer`, `rocprofiler`, `pytorch`, `nccl`, `telltale`");
  fields.member("recorded_at", info.recorded_at, "when the recording started, in UTC: `2026-11-15T01:13:02Z`");
  fields.member("events", info.events, "events of all kinds");
  fields.member("memory_events", info.memory_events, "allocations and frees");
  fields.member("counter_values", info.counter_values, "values of counters");
  fields.member("flows", info.flows,
                "links between events that the file draws and that are neither a launch nor a backward pass");
  fields.member("duration_ns", info.duration_ns, "from the start of the first event to the end of the last");
  fields.member("memory_bytes", info.memory_bytes, "what the trace takes in our memory");
  fields.member("steps", info.steps, "by start");
  fields.member("devices", info.devices, "by id");
  fields.member("processes", info.processes, "in the order of their first track");
  fields.member("tracks", info.tracks, "in the order of their first event");
  fields.member("kinds", info.kinds, "number of events by kind, for the kinds that occur");
  fields.member("recorded", info.recorded, "what was recorded besides times");
  fields.member("device_clock", info.device_clock,
                "how well times of the device agree with those of the host; null where the recorder did not measure "
                "it");
  fields.member("distributed", info.distributed, "null where the process is alone");
  fields.member("anomalies", info.anomalies, "what was lost first, then what was repaired, then notes");
}

template <typename Fields>
void describe(Fields& fields, const KeyAverage& row) {
  fields.object("TopRow",
                "Everything of one name: how often it was called and what it took, as in torch's `key_averages()`");
  fields.member("name", row.name, "what was called; all steps together are `ProfilerStep*`");
  fields.member("kind", row.kind, "`operator`, `kernel`, …: what it is");
  fields.member("calls", row.known_calls(), "how often; null of Python calls that are seen by samples");
  fields.member("self_cpu_ns", row.self_cpu_ns, "host time in the calls themselves, without calls inside them");
  fields.member("cpu_ns", row.cpu_ns,
                "host time with the calls inside them; a call inside another of the same row counts twice, as in "
                "torch");
  fields.member("cpu_once_ns", row.cpu_once_ns, "the same with each nanosecond of a thread counted once");
  fields.member("self_device_ns", row.self_device_ns,
                "time of the device work that the calls launched themselves; of device work, its own");
  fields.member("device_ns", row.device_ns, "and of the device work that the calls inside them launched");
  fields.member("cpu_memory_bytes", row.cpu_memory_bytes,
                "by how much the host memory in use grew while the calls ran");
  fields.member("self_cpu_memory_bytes", row.self_cpu_memory_bytes, "the same without the calls inside them");
  fields.member("device_memory_bytes", row.device_memory_bytes, "likewise for devices");
  fields.member("self_device_memory_bytes", row.self_device_memory_bytes, "likewise without the calls inside them");
  fields.member("flops", row.flops,
                "floating-point operations, by torch's formulas for `conv2d`, `mm`, `addmm`, `bmm`, `baddbmm`, `add` "
                "and `mul`");
  fields.member("input_shapes", row.input_shapes,
                "with `--group shape`: a list for each argument, empty where it is no tensor or a list of tensors");
  fields.member("stack", row.stack,
                "with `--group stack`: Python frames, innermost first; those of the forward pass for backward "
                "operators");
  fields.member("source", row.source,
                "the place in the program, where the trace has it and all calls stand in one; in CSV `file:line`");
}

template <typename Fields>
void describe(Fields& fields, const KeyAverages::Totals& totals) {
  fields.object("TopTotals", "Self time of the whole trace or of the chosen steps, whichever rows are shown");
  fields.member("self_cpu_ns", totals.self_cpu_ns, "of all operators, annotations, runtime and driver calls");
  fields.member("self_device_ns", totals.self_device_ns, "of all device work; null when the trace has none");
}

template <typename Fields>
void describe(Fields& fields, const KeyAverages& averages) {
  fields.answer("telltale.top/1", "Top", "What took the time");
  fields.member("rows", averages.rows, "what took the time, in the order that was asked for");
  fields.member("totals", averages.totals, "what shares are of");
  fields.member("anomalies", averages.lost + averages.repaired,
                "how many things in the file were lost or repaired; `telltale info` lists them");
}

struct StepOfWhatIf {
  const WhatIf& answer;
};

template <typename Fields>
void describe(Fields& fields, const StepOfWhatIf& of) {
  fields.object("WhatIfStep", "The steps that were replayed");
  fields.member("count", of.answer.timing.steps.size(), "how many there are");
  fields.member("mean_ns", of.answer.recorded, "a step as it was recorded, as in telltale.analyze/1");
  fields.member("source", of.answer.timing.source, "what the steps are, as in telltale.analyze/1");
}

struct DescribedChange {
  std::string_view change;
  std::optional<std::string> pattern;
  std::optional<Exact> factor;
  Reach reach;
};

inline std::vector<DescribedChange> described_changes(const WhatIf& answer) {
  const Changes& changes = answer.changes;
  std::vector<DescribedChange> rows;
  for (std::size_t i = 0; i < changes.patterns.size(); ++i) {
    const auto& [pattern, factor] = changes.patterns[i];
    rows.push_back({factor == 0 ? "remove" : "scale", text_of(pattern), Exact{factor}, answer.reach[i]});
  }
  if (changes.drops_waits) rows.push_back({"no_sync", {}, {}, answer.waits});
  if (changes.has_instant_data) rows.push_back({"instant_data", {}, {}, answer.data});
  if (changes.runs_as_graph) rows.push_back({"graph", {}, {}, answer.graph});
  if (changes.leaves_out_observer) rows.push_back({"no_observer", {}, {}, {}});
  return rows;
}

template <typename Fields>
void describe(Fields& fields, const DescribedChange& row) {
  fields.object("Change", "A change that was asked for, and how much of the steps it is about");
  fields.member("change", row.change, "`remove`, `scale`, `no_sync`, `instant_data`, `graph` or `no_observer`");
  fields.member("pattern", row.pattern, "what to remove or scale");
  fields.member("factor", row.factor, "how many times as long it takes; 0 removes it");
  fields.member("calls", row.reach.calls, "host events that it is about, in all steps together");
  fields.member("device_work", row.reach.device_work, "device work that it is about, in all steps together");
}

struct ReplayedOf {
  const WhatIf& answer;
  const ReplayedStep& step;
};

template <typename Fields>
void describe(Fields& fields, const ReplayedOf& of) {
  fields.object("ReplayedStep", "A step as it was replayed");
  fields.member("step_ns", of.step.period, "how long it takes");
  fields.member("device_busy_ns", of.answer.has_device ? std::optional(of.step.device_busy) : std::nullopt,
                "null where the steps launch no device work");
  fields.member("host_busy_ns", of.step.host_busy, "of the busiest line of host work, waits left out");
  fields.member("bottleneck", WhatIf::bottleneck_of(of.step),
                "`device` or `host` when it works for at least 95 % of the step, else `neither`");
}

struct SavingOfWhatIf {
  const WhatIf& answer;
};

template <typename Fields>
void describe(Fields& fields, const SavingOfWhatIf& of) {
  fields.object("WhatIfSaving", "By how much a step would be shorter");
  fields.member("ns", of.answer.saved(), "negative where it would be longer");
  fields.member("percent", of.answer.saved_percent(), "of `before.step_ns`");
}

template <typename Fields>
void describe(Fields& fields, const WhatIf& answer) {
  fields.answer("telltale.whatif/1", "WhatIf", "What a step would take if parts of it were gone, faster or slower");
  fields.member("path", answer.path, "the file as it was named; `-` is standard input");
  fields.member("step", StepOfWhatIf{answer}, "the steps as they were recorded");
  fields.member("changes", described_changes(answer), "what was asked for, in the order in which `change` lists them");
  fields.member("before", ReplayedOf{answer, answer.before}, "a step replayed without the changes");
  fields.member("after", ReplayedOf{answer, answer.after}, "the same with the changes");
  fields.member("saving", SavingOfWhatIf{answer}, "what the changes would buy");
}

}  // namespace telltale
