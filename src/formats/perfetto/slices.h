// The rows of a trace as slices that nest, and as instants.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/perfetto/annotations.h"
#include "formats/perfetto/interning.h"
#include "formats/perfetto/packets.h"
#include "formats/perfetto/track_uuids.h"
#include "trace/trace.h"

namespace telltale::perfetto {

class Slices {
 public:
  // `shift` is added to every time.
  Slices(const Trace& trace, Nanoseconds shift, TrackUuids& uuids, Packets& packets, Interning& interning);

  // All events of a track; tracks must come in ascending order.
  void write(TrackId track);

  struct Link {
    EventId from = kNoEvent, to = kNoEvent;
    std::uint64_t id = 0;  // of the flow
  };

 private:
  struct Lane {
    Uuid uuid = 0;
    std::vector<EventId> open;  // outermost first
  };

  void write_row(EventId event, TrackId track);
  void write_begin(EventId event, Uuid uuid);
  void write_end(EventId event, Uuid uuid);
  void write_instant(EventId event, Uuid uuid);
  // Ends what is over when an event begins that does not lie in it.
  void close_before(EventId event, Lane& lane);
  // The lane where the event nests in what is open.
  Lane& lane_for(EventId event, TrackId track);
  void start_event(EventType type, Uuid uuid);
  void add_name_and_category(EventId event);
  void add_flows(EventId event);
  std::uint64_t time(Nanoseconds at) const { return static_cast<std::uint64_t>(at + shift_); }

  const Trace& trace_;
  Nanoseconds shift_;
  TrackUuids& uuids_;
  Packets& packets_;
  Interning& interning_;
  Annotations annotations_;
  SideTableWalk<StringId> categories_;
  std::vector<Link> outgoing_, incoming_;  // by the event they start from, by the event they lead to
  std::size_t next_outgoing_ = 0, next_incoming_ = 0;
  std::vector<Lane> lanes_;  // of the track at hand
  ProtoMessage event_;
};

}  // namespace telltale::perfetto
