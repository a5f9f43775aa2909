// Where the records of a track belong: its process, its name among others, and the clock of its times.
//
// Made once from the definitions, then read by any number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/tell/clock.h"
#include "formats/tell/definitions.h"
#include "trace/builder.h"
#include "trace/event_batch.h"

namespace telltale::tell {

// A NativeId whose text is no one's number yet.
struct PlaceId {
  std::int64_t number = 0;
  std::string text;
};

struct Place {
  PlaceId process, thread;
  TrackKind kind = TrackKind::kThread;
  DeviceId device = kHost;
  TrackClock clock = TrackClock::kTicks;
  std::string name;
  std::int64_t order = 0;
};

class Places {
 public:
  explicit Places(const Definitions& definitions);

  // By the file's number; of a track that no chunk describes, what can be said of it.
  Place place(std::uint64_t track) const;
  const PlaceId& process() const { return process_; }

  // The moment on CLOCK_MONOTONIC; nothing when no clock shows such a time.
  std::optional<Nanoseconds> time(TrackClock clock, std::uint64_t value) const;
  // The wall-clock time of time 0 of CLOCK_MONOTONIC, if the file says it.
  std::optional<std::int64_t> epoch_ns() const { return epoch_ns_; }

  // The names of processes and tracks.
  void label(LocalNames& names, TraceBuilder& builder) const;

 private:
  Place made_of(const RecordedTrack& track, const Sites& sites) const;

  PlaceId process_;
  std::string process_name_;
  std::vector<std::pair<std::uint64_t, Place>> places_;  // in the order of the file
  std::unordered_map<std::uint64_t, std::size_t> place_at_;
  ClockMap ticks_, realtime_;
  std::optional<std::int64_t> epoch_ns_;
};

NativeId local_id(const PlaceId& id, LocalNames& names);
TrackKey local_key(const Place& place, LocalNames& names);

}  // namespace telltale::tell
