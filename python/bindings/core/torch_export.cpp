#include "bindings/core/torch_export.h"

#include <optional>

#include "bindings/core/torch_numbers.h"
#include "formats/kineto/write.h"
#include "formats/read_trace.h"
#include "formats/write_trace.h"
#include "trace/step_marks.h"

namespace telltale::python {
namespace {

constexpr std::string_view kDeviceProperties = "deviceProperties";  // torch's JSON has them, if there are none, too
constexpr std::string_view kOurCollection = "gc.collect (generation ", kTorchsCollection = "Python GC";

// The first call of Python's, in the order of a track, that begins in the step and ends behind it.
std::optional<EventId> call_that_outlives(EventId step, const Track& track, const Events& events) {
  const Nanoseconds end = events.end(step);
  for (EventId event = step + 1; event < track.first_event + track.event_count; ++event) {
    if (events.start[event] >= end) return std::nullopt;
    if (events.kind[event] == Kind::kPython && events.start[event] > events.start[step] && events.end(event) > end)
      return event;
  }
  return std::nullopt;
}

}  // namespace

void name_collections(Trace& trace) {
  const StringId name = trace.strings.intern(kTorchsCollection);
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.name(event).starts_with(kOurCollection)) trace.events.name[event] = name;
}

void adjust_steps(Trace& trace) {
  Events& events = trace.events;
  for (const Track& track : trace.tracks) {
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (events.kind[event] != Kind::kAnnotation || !is_step_name(trace.name(event))) continue;
      if (const auto call = call_that_outlives(event, track, events)) {
        const Nanoseconds end = events.end(event);
        events.start[event] = events.start[*call] + 1;  // inside of the call, as in torch
        events.duration[event] = end - events.start[event];
      }
    }
  }
}

Result<void> export_as_torch(const std::string& recording, const std::string& path, const TorchExport& wanted) {
  Result<Trace> trace = read_trace(recording);
  if (!trace) return std::unexpected(trace.error());
  for (const auto& pair : wanted.metadata) {
    std::erase_if(trace->metadata, [&](const auto& known) { return known.first == pair.first; });
    trace->metadata.push_back(pair);
  }
  if (trace->devices.empty() && trace->metadata_named(kDeviceProperties) == nullptr)
    trace->metadata.emplace_back(kDeviceProperties, "[]");
  add_kineto_numbers(*trace);
  if (wanted.names_collections) name_collections(*trace);
  if (wanted.adjusts_steps) adjust_steps(*trace);
  OutputFormat format = *format_named("kineto");
  format.write = &kineto::write_with_window;
  // Readable for all, as what torch writes.
  const WriteOptions writing{PendingFile::Existing::kReplace, PendingFile::Readers::kAll, {}};
  const Result<LeftOutList> written = write_trace(*trace, format, path, writing);
  if (!written) return std::unexpected(written.error());
  return {};
}

}  // namespace telltale::python
