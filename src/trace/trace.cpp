#include "trace/trace.h"

#include <algorithm>
#include <concepts>

namespace telltale {
namespace {

template <typename Value>
std::size_t bytes_of(const std::vector<Value>& column) {
  return column.capacity() * sizeof(Value);
}

// Resident bytes of a table that is kept as columns.
template <typename Table>
struct ColumnBytes {
  const Table& table;
  std::size_t bytes = 0;

  void number(auto column, const ColumnInfo&) { bytes += bytes_of(table.*column); }
  void text(auto column, const ColumnInfo&) { bytes += bytes_of(table.*column); }
  void choice(auto column, const auto&, const ColumnInfo&) { bytes += bytes_of(table.*column); }
  void index(auto column, auto, const ColumnInfo&) { bytes += bytes_of(table.*column); }
  void event(auto column, const ColumnInfo&) { bytes += bytes_of(table.*column); }
};

template <typename Table>
std::size_t bytes_of_columns(const Table& table) {
  ColumnBytes<Table> columns{table};
  describe(columns, RowOf<Table>{});
  return columns.bytes;
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
  // Between an event and what is looked for around it stand a few others. No file makes us look for ever.
  constexpr int kMostBetween = 1000;
  EventId at = events.parent[event];
  for (int i = 0; i < kMostBetween && at != kNoEvent && events.kind[at] != kind; ++i) at = events.parent[at];
  return at != kNoEvent && events.kind[at] == kind ? at : kNoEvent;
}

const std::string* Trace::metadata_named(std::string_view name) const {
  const auto pair = std::ranges::find(metadata, name, &MetadataValue::first);
  return pair != metadata.end() ? &pair->second : nullptr;
}

EventId Trace::launch_of(EventId event) const {
  if (!is_on_device(events.kind[event])) return kNoEvent;
  const EventId cause = events.cause[event];
  return cause != kNoEvent && is_api_call(events.kind[cause]) ? cause : kNoEvent;
}

EventId Trace::operator_of(EventId event) const {
  if (is_on_device(events.kind[event])) return operator_at(events.cause[event]);
  const EventId around = ancestor(event, Kind::kOperator);
  if (around != kNoEvent || !is_api_call(events.kind[event])) return around;
  return events.cause[event];
}

EventId Trace::operator_at(EventId event) const {
  return event == kNoEvent || events.kind[event] == Kind::kOperator ? event : operator_of(event);
}

EventId Trace::origin_of(EventId event) const {
  const GraphOrigin* const origin = graph_origins.empty() ? nullptr : graph_origins.find(event);
  return origin != nullptr && origin->captured_in != kNoEvent ? origin->captured_in : events.cause[event];
}

std::size_t Trace::memory_bytes() const {
  std::size_t bytes = strings.memory_bytes();
  bytes += bytes_of_columns(events) + bytes_of_columns(memory) + bytes_of_columns(counters);
  for_each_side_table([&](const TableInfo&, auto table_of, auto) { bytes += table_of(*this).memory_bytes(); });
  for_each_list([&]<typename Row>(const TableInfo&, auto rows_in, RowOf<Row>) {
    if constexpr (!std::same_as<Row, MetadataValue>) bytes += bytes_of(rows_in(*this));
  });
  for (const auto& [name, text] : metadata) bytes += name.capacity() + text.capacity();
  return bytes;
}

}  // namespace telltale
