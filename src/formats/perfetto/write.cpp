#include "formats/perfetto/write.h"

#include <algorithm>
#include <map>
#include <string>

#include "formats/output/left_out_of_trace.h"
#include "formats/perfetto/packets.h"
#include "formats/perfetto/slices.h"

namespace telltale::perfetto {
namespace {

// Perfetto's times have no sign.
Nanoseconds shift_to_zero(const Trace& trace) {
  Nanoseconds first = 0;
  for (const std::vector<Nanoseconds>* times : {&trace.events.start, &trace.memory.time, &trace.counters.time})
    for (const Nanoseconds time : *times) first = std::min(first, time);
  return -first;
}

class CounterTracks {
 public:
  CounterTracks(const Trace& trace, Nanoseconds shift, TrackUuids& uuids, Packets& packets, Interning& interning)
      : trace_(trace), shift_(shift), uuids_(uuids), packets_(packets), interning_(interning) {}

  void write_counters() {
    const Counters& counters = trace_.counters;
    for (const CounterSeries& series : counters.series) {
      std::string name(trace_.strings[series.name]);
      if (series.series != kEmptyString && series.series != series.name)
        name.append(" ").append(trace_.strings[series.series]);
      const bool is_in_bytes = trace_.strings[series.name].ends_with("(bytes)");
      const Uuid uuid = start(uuids_.of_process(trace_.tracks[series.track].process), name, is_in_bytes);
      for (std::uint32_t i = series.first; i < series.first + series.count && !packets_.has_failed(); ++i)
        write_value(uuid, counters.time[i], counters.value[i]);
    }
  }

  // What is allocated in all where the file says it, else what was allocated and not freed since the start.
  void write_memory() {
    struct Tracks {
      Uuid allocated = 0, reserved = 0;
      std::int64_t sum = 0;
    };
    std::map<std::pair<ProcessId, DeviceId>, Tracks> tracks;
    const MemoryEvents& memory = trace_.memory;
    for (std::size_t i = 0; i < memory.size() && !packets_.has_failed(); ++i) {
      const ProcessId process = trace_.tracks[memory.track[i]].process;
      const DeviceId device = memory.device[i];
      const std::string where = device == kHost ? "CPU" : "GPU " + std::to_string(device);
      Tracks& track = tracks[{process, device}];
      const bool has_total = memory.total_allocated[i] != -1;
      track.sum = has_total ? memory.total_allocated[i] : track.sum + memory.bytes[i];
      if (track.allocated == 0) track.allocated = start(uuids_.of_process(process), "Memory allocated, " + where, true);
      write_value(track.allocated, memory.time[i], static_cast<double>(track.sum));
      if (memory.total_reserved[i] == -1) continue;
      if (track.reserved == 0) track.reserved = start(uuids_.of_process(process), "Memory reserved, " + where, true);
      write_value(track.reserved, memory.time[i], static_cast<double>(memory.total_reserved[i]));
    }
  }

 private:
  Uuid start(Uuid process, const std::string& name, bool is_in_bytes) {
    const Uuid uuid = uuids_.next();
    packets_.write_descriptor(TrackUuids::describe_counter(uuid, process, name, is_in_bytes));
    return uuid;
  }

  void write_value(Uuid uuid, Nanoseconds time, double value) {
    enum Field : unsigned { kType = 9, kTrack = 11, kValue = 44 };
    event_.clear();
    event_.add_unsigned(kType, static_cast<unsigned>(EventType::kCounter));
    event_.add_unsigned(kTrack, uuid);
    event_.add_double(kValue, value);
    packets_.write_event(static_cast<std::uint64_t>(time + shift_), event_, interning_);
  }

  const Trace& trace_;
  Nanoseconds shift_;
  TrackUuids& uuids_;
  Packets& packets_;
  Interning& interning_;
  ProtoMessage event_;
};

// One mark at the start, whose arguments are what the file said besides its events.
void write_metadata(const Trace& trace, Nanoseconds shift, TrackUuids& uuids, Packets& packets, Interning& interning) {
  if (trace.metadata.empty()) return;
  enum Field : unsigned { kType = 9, kTrack = 11, kName = 23 };
  const Uuid uuid = uuids.next();
  packets.write_descriptor(TrackUuids::describe(uuid, 0, "About the recording"));
  ProtoMessage event;
  event.add_unsigned(kType, static_cast<unsigned>(EventType::kInstant));
  event.add_unsigned(kTrack, uuid);
  event.add_string(kName, "Recording");
  Annotations(trace, interning).add_metadata(event);
  packets.write_event(static_cast<std::uint64_t>(shift), event, interning);
}

LeftOutList what_is_left_out(const Trace& trace) {
  LeftOutList left_out;
  left_out.add(trace.memory.size(), "address of a memory event", "addresses of memory events",
               "Perfetto gets counters of what is allocated instead");
  left_out.add(trace.devices.size(), "device's properties", "devices' properties",
               "Perfetto has a place only for names");
  left_out.add(trace.distributed ? 1 : 0, "description of a distributed job", "descriptions of distributed jobs",
               "Perfetto has no place for that");
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  const Nanoseconds shift = shift_to_zero(trace);
  Packets packets(out);
  TrackUuids uuids(trace);
  Interning interning(trace.strings);
  packets.write_start();
  if (trace.origin_epoch_ns > 0) packets.write_clocks(static_cast<std::uint64_t>(shift), trace.origin_epoch_ns);
  write_metadata(trace, shift, uuids, packets, interning);
  for (ProcessId id = 0; id < trace.processes.size(); ++id) packets.write_descriptor(uuids.describe_process(id));
  Slices slices(trace, shift, uuids, packets, interning);
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    if (trace.tracks[id].kind != TrackKind::kCounter || trace.tracks[id].event_count > 0)
      packets.write_descriptor(uuids.describe_track(id));
    slices.write(id);
    if (progress) progress(static_cast<double>(id + 1) / static_cast<double>(trace.tracks.size()));
  }
  CounterTracks counters(trace, shift, uuids, packets, interning);
  counters.write_counters();
  counters.write_memory();
  return what_is_left_out(trace);
}

}  // namespace telltale::perfetto
