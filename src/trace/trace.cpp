#include "trace/trace.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace telltale {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

template <typename Value>
std::size_t bytes_of(const std::vector<Value>& column) {
  return column.capacity() * sizeof(Value);
}

template <typename... Columns>
std::size_t total_bytes(const Columns&... columns) {
  return (bytes_of(columns) + ... + 0);
}

}  // namespace

std::string_view name_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kAsync:
      return "async";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kRecording:
      return "recording";
  }
  return "";
}

std::string_view name_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::kUnknown:
      return "unknown";
    case MemorySpace::kPageable:
      return "pageable";
    case MemorySpace::kPinned:
      return "pinned";
    case MemorySpace::kDevice:
      return "device";
    case MemorySpace::kArray:
      return "array";
    case MemorySpace::kManaged:
      return "managed";
  }
  return "";
}

bool is_step_name(std::string_view name) { return name.starts_with(kStepPrefix); }

std::optional<std::int64_t> step_number(std::string_view name) {
  if (!is_step_name(name)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  std::int64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  return is_number && !name.starts_with('-') ? std::optional(number) : std::nullopt;
}

std::string step_name(std::int64_t number) { return std::string(kStepPrefix) + std::to_string(number); }

void MemoryEvents::reserve(std::size_t rows) {
  time.reserve(rows);
  address.reserve(rows);
  bytes.reserve(rows);
  total_allocated.reserve(rows);
  total_reserved.reserve(rows);
  device.reserve(rows);
  track.reserve(rows);
  event.reserve(rows);
}

StepId Trace::step_of(EventId event) const {
  const bool is_launched = is_on_device(events.kind[event]) && events.cause[event] != kNoEvent;
  const Nanoseconds time = events.start[is_launched ? events.cause[event] : event];
  const auto behind = std::upper_bound(steps.begin(), steps.end(), time,
                                       [](Nanoseconds value, const Step& step) { return value < step.start; });
  if (behind == steps.begin()) return kNoStep;
  const auto step = behind - 1;
  return time < step->start + step->duration ? static_cast<StepId>(step - steps.begin()) : kNoStep;
}

EventId Trace::ancestor(EventId event, Kind kind) const {
  EventId at = events.parent[event];
  while (at != kNoEvent && events.kind[at] != kind) at = events.parent[at];
  return at;
}

const std::string* Trace::metadata_named(std::string_view name) const {
  const auto pair = std::ranges::find(metadata, name, &std::pair<std::string, std::string>::first);
  return pair != metadata.end() ? &pair->second : nullptr;
}

EventId Trace::launch_of(EventId event) const {
  if (!is_on_device(events.kind[event])) return kNoEvent;
  const EventId cause = events.cause[event];
  return cause != kNoEvent && is_api_call(events.kind[cause]) ? cause : kNoEvent;
}

EventId Trace::operator_of(EventId event) const {
  if (is_on_device(events.kind[event])) {
    const EventId cause = events.cause[event];
    if (cause == kNoEvent || events.kind[cause] == Kind::kOperator) return cause;
    event = cause;
  }
  const EventId around = ancestor(event, Kind::kOperator);
  if (around != kNoEvent || !is_api_call(events.kind[event])) return around;
  return events.cause[event];
}

std::size_t Trace::memory_bytes() const {
  std::size_t bytes = strings.memory_bytes();
  bytes +=
      total_bytes(events.start, events.duration, events.name, events.kind, events.track, events.parent, events.cause);
  bytes += total_bytes(tracks, processes, devices, steps, operator_inputs, kernel_launches, source_locations, flows);
  bytes += operators.memory_bytes() + operator_stacks.memory_bytes() + sources.memory_bytes() + kernels.memory_bytes() +
           graph_nodes.memory_bytes() + copies.memory_bytes() + syncs.memory_bytes() + collectives.memory_bytes() +
           lanes.memory_bytes() + categories.memory_bytes() + other_arguments.memory_bytes();
  bytes += total_bytes(memory.time, memory.address, memory.bytes, memory.total_allocated, memory.total_reserved,
                       memory.device, memory.track, memory.event, memory.pool);
  bytes += total_bytes(counters.time, counters.value, counters.series);
  for (const auto& [name, text] : metadata) bytes += name.capacity() + text.capacity();
  return bytes;
}

}  // namespace telltale
