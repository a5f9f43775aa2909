// The arrows that a file draws between events.
#pragma once

#include <vector>

#include "trace/event_batch.h"
#include "trace/linking.h"
#include "trace/trace.h"

namespace telltale {

// One end of an arrow, with strings and tracks of the finished trace.
struct FlowPoint {
  using Role = FlowRole;
  StringId category = kEmptyString, name = kEmptyString, id = kEmptyString;
  std::int64_t id_number = 0;
  Nanoseconds time = 0;
  std::uint64_t byte_offset = 0;
  std::uint32_t place = 0;  // where: an index of FlowPlaces
  Role role = Role::kStart;
  bool binds_to_next = false;
};

// A pid and tid as flows name them: the tracks that have them, threads and streams alike.
using FlowPlaces = std::vector<std::vector<TrackId>>;

// Joins starts, steps and ends in the order of time. Arrows that say what `cause` says already (Kineto's ac2g and
// fwdbwd) are checked but not kept; from fwdbwd the forward threads are learned. Needs `parent`.
std::vector<ForwardThread> link_flows(Trace& trace, std::vector<FlowPoint> points, const FlowPlaces& places);

}  // namespace telltale
