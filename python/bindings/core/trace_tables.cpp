#include "bindings/core/trace_tables.h"

#include <array>
#include <numeric>

#include "bindings/core/arrow_columns.h"

namespace telltale::python {
namespace {

ArrowTable all_events(const SharedTrace& trace) { return events_table(trace); }

std::array<std::string_view, kKindCount> kind_names() {
  std::array<std::string_view, kKindCount> names;
  for (int i = 0; i < kKindCount; ++i) names[static_cast<std::size_t>(i)] = name_of(static_cast<Kind>(i));
  return names;
}

// Kinds are numbers from 0 in the trace's memory and as indices of a dictionary; readers like these with a sign.
static_assert(sizeof(Kind) == sizeof(std::int8_t) && kKindCount <= INT8_MAX);

ArrowColumn step_column(const Trace& trace, std::size_t rows, const auto& event_of) {
  return numbers("step", rows, [&](std::size_t i) -> std::optional<std::int64_t> {
    const StepId step = trace.step_of(event_of(i));
    return step == kNoStep ? std::nullopt : std::optional(trace.steps[static_cast<std::size_t>(step)].index);
  });
}

// A column of events, where kNoEvent is null.
ArrowColumn event_column(std::string name, const SharedTrace& trace, const std::vector<EventId>& events) {
  return with_nulls(column_of(std::move(name), trace, events), [&](std::size_t i) { return events[i] == kNoEvent; });
}

ArrowTable every_event(const SharedTrace& trace) {
  const Events& events = trace->events;
  std::vector<EventId> numbered(events.size());
  std::iota(numbered.begin(), numbered.end(), EventId{0});
  ArrowColumn kind{"kind",
                   "c",
                   static_cast<std::int64_t>(events.size()),
                   0,
                   false,
                   {nullptr, events.size() == 0 ? buffer_of(std::vector<std::int8_t>())
                                                : std::shared_ptr<const void>(trace, events.kind.data())}};
  return table_of(
      "events", events.size(),
      {column_of("event", std::move(numbered)), column_of("start_ns", trace, events.start),
       column_of("duration_ns", trace, events.duration), interned("name", *trace, events.name, EmptyText::kIsText),
       dictionary_of(std::move(kind), kind_names()), column_of("track", trace, events.track),
       event_column("parent", trace, events.parent), event_column("cause", trace, events.cause),
       step_column(*trace, events.size(), [](std::size_t i) { return static_cast<EventId>(i); })});
}

ArrowTable some_events(const Trace& trace, KindSet kinds) {
  const Events& events = trace.events;
  std::vector<EventId> chosen;
  for (EventId event = 0; event < events.size(); ++event)
    if (kinds.contains(events.kind[event])) chosen.push_back(event);
  const std::size_t rows = chosen.size();
  const auto of = [&](const auto& column) { return [&](std::size_t i) { return column[chosen[i]]; }; };
  const auto event_of = [&](const auto& column) {
    return [&](std::size_t i) { return event_or_null(column[chosen[i]]); };
  };
  const auto kind = [&](std::size_t i) { return static_cast<std::int8_t>(events.kind[chosen[i]]); };
  return table_of("events", rows,
                  {column_of("event", chosen), numbers("start_ns", rows, of(events.start)),
                   numbers("duration_ns", rows, of(events.duration)),
                   interned("name", trace, ids_of(rows, of(events.name)), EmptyText::kIsText),
                   dictionary_of(numbers("kind", rows, kind), kind_names()), numbers("track", rows, of(events.track)),
                   numbers("parent", rows, event_of(events.parent)), numbers("cause", rows, event_of(events.cause)),
                   step_column(trace, rows, [&](std::size_t i) { return chosen[i]; })});
}

}  // namespace

ArrowTable events_table(const SharedTrace& trace, const std::optional<KindSet>& kinds) {
  return kinds ? some_events(*trace, *kinds) : every_event(trace);
}

ArrowTable tracks_table(const SharedTrace& trace) {
  const std::vector<Track>& tracks = trace->tracks;
  const std::size_t rows = tracks.size();
  static const std::vector<std::string_view> kKinds = {name_of(TrackKind::kThread), name_of(TrackKind::kStream),
                                                       name_of(TrackKind::kAsync), name_of(TrackKind::kCounter),
                                                       name_of(TrackKind::kRecording)};
  const auto kind = [&](std::size_t i) { return static_cast<std::int8_t>(tracks[i].kind); };
  const auto device = [&](std::size_t i) {
    return tracks[i].device == kHost ? std::nullopt : std::optional(tracks[i].device);
  };
  return table_of(
      "tracks", rows,
      {numbers("track", rows, [](std::size_t i) { return static_cast<TrackId>(i); }),
       interned("name", *trace, ids_of(rows, [&](std::size_t i) { return tracks[i].name; })),
       dictionary_of(numbers("kind", rows, kind), kKinds),
       numbers("process", rows, [&](std::size_t i) { return tracks[i].process; }), numbers("device", rows, device),
       numbers("native_id", rows, [&](std::size_t i) { return tracks[i].native_id; }),
       numbers("sort_index", rows, [&](std::size_t i) { return tracks[i].sort_index; }),
       numbers("first_event", rows, [&](std::size_t i) { return tracks[i].first_event; }),
       numbers("events", rows, [&](std::size_t i) { return tracks[i].event_count; })});
}

ArrowTable processes_table(const SharedTrace& trace) {
  const std::vector<Process>& processes = trace->processes;
  const std::size_t rows = processes.size();
  return table_of("processes", rows,
                  {numbers("process", rows, [](std::size_t i) { return static_cast<ProcessId>(i); }),
                   numbers("pid", rows, [&](std::size_t i) { return processes[i].native_id; }),
                   interned("name", *trace, ids_of(rows, [&](std::size_t i) { return processes[i].name; })),
                   interned("labels", *trace, ids_of(rows, [&](std::size_t i) { return processes[i].labels; })),
                   numbers("sort_index", rows, [&](std::size_t i) { return processes[i].sort_index; })});
}

ArrowTable devices_table(const SharedTrace& trace) {
  const std::vector<Device>& devices = trace->devices;
  const std::size_t rows = devices.size();
  const auto of = [&](auto member) { return [&devices, member](std::size_t i) { return devices[i].*member; }; };
  std::vector<std::string_view> names;
  for (const Device& device : devices) names.emplace_back(device.name);
  const auto has_no_name = [&](std::size_t i) { return devices[i].name.empty(); };
  return table_of("devices", rows,
                  {numbers("device", rows, of(&Device::id)), with_nulls(texts("name", names), has_no_name),
                   numbers("memory_bytes", rows, of(&Device::memory_bytes)),
                   numbers("compute_major", rows, of(&Device::compute_major)),
                   numbers("compute_minor", rows, of(&Device::compute_minor)),
                   numbers("multiprocessors", rows, of(&Device::multiprocessors)),
                   numbers("warp_size", rows, of(&Device::warp_size)),
                   numbers("max_threads_per_multiprocessor", rows, of(&Device::max_threads_per_multiprocessor)),
                   numbers("registers_per_multiprocessor", rows, of(&Device::registers_per_multiprocessor)),
                   numbers("shared_memory_per_multiprocessor", rows, of(&Device::shared_memory_per_multiprocessor))});
}

ArrowTable steps_table(const SharedTrace& trace) {
  const std::vector<Step>& steps = trace->steps;
  const std::size_t rows = steps.size();
  return table_of("steps", rows,
                  {numbers("step", rows, [&](std::size_t i) { return steps[i].index; }),
                   numbers("event", rows, [&](std::size_t i) { return event_or_null(steps[i].event); }),
                   numbers("start_ns", rows, [&](std::size_t i) { return steps[i].start; }),
                   numbers("duration_ns", rows, [&](std::size_t i) { return steps[i].duration; })});
}

ArrowTable memory_table(const SharedTrace& trace) {
  const MemoryEvents& memory = trace->memory;
  const auto where_recorded = [&](std::string name, const std::vector<std::int64_t>& values) {
    return with_nulls(column_of(std::move(name), trace, values), [&](std::size_t i) { return values[i] < 0; });
  };
  const auto is_on_host = [&](std::size_t i) { return memory.device[i] == kHost; };
  const auto pool = [&](std::size_t i) { return memory.pool.empty() ? kEmptyString : memory.pool[i]; };
  return table_of(
      "memory", memory.size(),
      {column_of("time_ns", trace, memory.time), column_of("address", trace, memory.address),
       column_of("bytes", trace, memory.bytes), where_recorded("total_allocated", memory.total_allocated),
       where_recorded("total_reserved", memory.total_reserved),
       with_nulls(column_of("device", trace, memory.device), is_on_host), column_of("track", trace, memory.track),
       event_column("event", trace, memory.event), interned("pool", *trace, ids_of(memory.size(), pool))});
}

ArrowTable counters_table(const SharedTrace& trace) {
  const Counters& counters = trace->counters;
  std::vector<StringId> names(counters.size()), series(counters.size());
  std::vector<TrackId> tracks(counters.size());
  for (const CounterSeries& each : counters.series) {
    for (std::uint32_t row = each.first; row < each.first + each.count; ++row) {
      names[row] = each.name;
      series[row] = each.series;
      tracks[row] = each.track;
    }
  }
  return table_of(
      "counters", counters.size(),
      {column_of("time_ns", trace, counters.time), column_of("value", trace, counters.value),
       interned("counter", *trace, names), interned("series", *trace, series), column_of("track", std::move(tracks))});
}

ArrowTable flows_table(const SharedTrace& trace) {
  const std::vector<Flow>& flows = trace->flows;
  const std::size_t rows = flows.size();
  return table_of("flows", rows,
                  {interned("name", *trace, ids_of(rows, [&](std::size_t i) { return flows[i].name; })),
                   numbers("from_event", rows, [&](std::size_t i) { return event_or_null(flows[i].from); }),
                   numbers("to_event", rows, [&](std::size_t i) { return event_or_null(flows[i].to); })});
}

ArrowTable metadata_table(const SharedTrace& trace) {
  std::vector<std::string_view> names, values;
  for (const auto& [name, value] : trace->metadata) {
    names.emplace_back(name);
    values.emplace_back(value);
  }
  return table_of("metadata", names.size(), {texts("name", names), texts("value", values)});
}

const std::vector<NamedTable>& all_tables() {
  static const std::vector<NamedTable> kTables = {
      {"events", all_events},
      {"operators", operators_table},
      {"tensors", tensors_table},
      {"stacks", stacks_table},
      {"sources", sources_table},
      {"kernels", kernels_table},
      {"graph_nodes", graph_nodes_table},
      {"copies", copies_table},
      {"syncs", syncs_table},
      {"collectives", collectives_table},
      {"arguments", arguments_table},
      {"categories", categories_table},
      {"lanes", lanes_table},
      {"memory", memory_table},
      {"counters", counters_table},
      {"flows", flows_table},
      {"steps", steps_table},
      {"tracks", tracks_table},
      {"processes", processes_table},
      {"devices", devices_table},
      {"metadata", metadata_table},
  };
  return kTables;
}

}  // namespace telltale::python
