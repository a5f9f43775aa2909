#include "answers/view_trace.h"

#include <fmt/format.h>

#include <span>

#include "analysis/device_maker.h"
#include "answers/event_place.h"
#include "report/analyze_words.h"
#include "report/compact_json.h"
#include "report/text_width.h"

namespace telltale {

template <typename Fields>
void describe(Fields& fields, const ShownTrack& track) {
  fields.object("Track", "A line of the timeline");
  fields.member("id", track.id, "unique among all");
  fields.member("kind", track.kind, "what it shows");
  fields.member("name", track.name, "for people");
  fields.member("process", track.process, "which it belongs to");
  fields.member("device", track.device, "likewise");
  fields.member("lanes", track.lanes, "how deep calls nest");
  fields.member("events", track.events, "how many");
  fields.member("first_ns", track.first, "when the first begins");
  fields.member("last_ns", track.last, "when the last ends");
  fields.member("busy_ns", track.busy, "of the outermost events");
  const bool is_counter = track.kind == ShownTrackKind::kCounter;
  fields.member("unit", is_counter ? std::optional(track.unit) : std::nullopt, "of a counter");
  const auto exact = [](std::optional<double> value) { return value ? std::optional(Exact{*value}) : std::nullopt; };
  fields.member("minimum", exact(track.minimum), "of a counter");
  fields.member("maximum", exact(track.maximum), "of a counter");
}

}  // namespace telltale

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const ViewDevice& device) {
  fields.object("Device", "A device");
  fields.member("id", device.id, "as the recorder numbers it");
  fields.member("name", device.name, "its model");
}

template <typename Fields>
void describe(Fields& fields, const ViewProcess& process) {
  fields.object("Process", "A process");
  fields.member("id", process.id, "its place");
  fields.member("name", process.name, "for people");
  fields.member("pid", process.pid, "the system's number");
  fields.member("rank", process.rank, "among the processes that work together");
}

template <typename Fields>
void describe(Fields& fields, const ViewStep& step) {
  fields.object("StepMark", "A step");
  fields.member("index", step.index, "the number in its mark, or its place");
  fields.member("start_ns", step.start, "when it starts on the host");
  fields.member("duration_ns", step.duration, "until the next one starts");
}

template <typename Fields>
void describe(Fields& fields, const ViewTraceAnswer& answer) {
  fields.object("TraceShape", "What a trace consists of");
  fields.member("file", answer.file, "without its folder");
  fields.member("format", answer.format, "what wrote it");
  fields.member("duration_ns", answer.duration, "from its start to the end of its last event or mark");
  fields.member("events", answer.events, "how many");
  fields.member("device_word", answer.device_word, "what sentences call them: GPU, device");
  fields.member("devices", answer.devices, "by id");
  fields.member("processes", answer.processes, "in the order of their first track");
  fields.member("tracks", answer.tracks, "in the order in which they are best shown");
  fields.member("steps", answer.steps, "by start");
  fields.member("colors", view_colors(), "what colors point to");
  fields.member("has_memory", answer.has_memory, "whether allocations were recorded");
  fields.member("has_modules", answer.has_modules, "whether modules were recorded");
  fields.member("has_stacks", answer.has_stacks, "whether Python stacks were recorded");
}

namespace {

// Of a process that only stands for a device, as some recorders write them.
std::optional<std::string> device_of_process(const Trace& trace, std::span<const ShownTrack> tracks,
                                             ProcessId process) {
  std::optional<DeviceId> device;
  for (const ShownTrack& track : tracks) {
    if (track.process != process || track.kind == ShownTrackKind::kCounter) continue;
    if (!track.device || (device && device != track.device)) return std::nullopt;
    device = track.device;
  }
  if (!device) return std::nullopt;
  const std::string number = fmt::format("{} {}", device_word(trace), *device), name = device_name(trace, *device);
  return name == number ? number : fmt::format("{} ({})", number, name);
}

std::string process_name(const Trace& trace, std::span<const ShownTrack> tracks, ProcessId id) {
  const Process& process = trace.processes[id];
  const std::string_view name = trace.strings[process.name], labels = trace.strings[process.labels];
  if (!name.empty() && !labels.empty()) return printable(fmt::format("{} ({})", name, labels));
  if (!name.empty() || !labels.empty()) return printable(name.empty() ? labels : name);
  if (auto device = device_of_process(trace, tracks, id)) return *device;
  return process.native_id != 0 ? fmt::format("process {}", process.native_id) : "process";
}

// A trace lasts until nothing takes time any more; what is shown of it, until the last mark.
Nanoseconds shown_duration(const Trace& trace, std::span<const ShownTrack> tracks) {
  Nanoseconds duration = trace.duration;
  for (const ShownTrack& track : tracks)
    if (track.last > duration) duration = track.last + 1;  // so that the mark lies inside
  return duration;
}

}  // namespace

std::string ViewTraceAnswer::json() const { return compact_json_of(*this); }

Result<ViewTraceAnswer> view_trace(const View& view, const ViewTraceRequest&) {
  const Trace& trace = *view.trace;
  ViewTraceAnswer answer{.file = file_label(view.path),
                         .format = trace.format,
                         .device_word = std::string(device_word(trace)),
                         .duration = shown_duration(trace, view.timeline->tracks()),
                         .events = trace.events.size(),
                         .tracks = view.timeline->tracks(),
                         .has_memory = trace.memory.size() > 0,
                         .has_modules = trace.recorded.modules,
                         .has_stacks = trace.recorded.stacks};
  for (const Device& device : trace.devices) answer.devices.push_back({device.id, device_name(trace, device.id)});
  const auto rank = trace.distributed ? trace.distributed->rank : std::nullopt;
  for (ProcessId id = 0; id < trace.processes.size(); ++id) {
    const auto native_id = trace.processes[id].native_id;
    answer.processes.push_back(
        {id, process_name(trace, answer.tracks, id), native_id != 0 ? std::optional(native_id) : std::nullopt, rank});
  }
  if (const FoundSteps& found = view.timeline->steps(); found.source != StepSource::kWhole)
    for (const FoundStep& step : found.steps) answer.steps.push_back({step.index, step.host.begin, step.host.length()});
  return answer;
}

}  // namespace telltale::answers
