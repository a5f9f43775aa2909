// The tracks of a Perfetto trace: which of ours become processes, threads, plain tracks and counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/perfetto/proto_message.h"
#include "trace/trace.h"

namespace telltale::perfetto {

using Uuid = std::uint64_t;

// Numbers processes and tracks; makes their descriptors. Everything that has no place of its own in the trace, such as
// a lane of a track, gets a number from next().
class TrackUuids {
 public:
  explicit TrackUuids(const Trace& trace);

  Uuid of_process(ProcessId process) const { return 1 + process; }
  Uuid of_track(TrackId track) const { return 1 + trace_.processes.size() + track; }
  Uuid next() { return next_++; }

  // TrackDescriptor messages.
  ProtoMessage describe_process(ProcessId process) const;
  ProtoMessage describe_track(TrackId track) const;
  // A plain track under another one.
  static ProtoMessage describe(Uuid uuid, Uuid parent, std::string_view name);
  static ProtoMessage describe_counter(Uuid uuid, Uuid parent, std::string_view name, bool is_in_bytes);

 private:
  // Perfetto has 32 bits for a pid, and takes process and thread 0 for the idle task.
  bool is_process(ProcessId process) const;
  bool is_thread(const Track& track) const;

  const Trace& trace_;
  std::vector<DeviceId> device_of_process_;  // of one that has nothing but one device's streams; kHost otherwise
  Uuid next_;
};

}  // namespace telltale::perfetto
