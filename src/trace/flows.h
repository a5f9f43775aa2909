// The arrows that a file draws between events.
#pragma once

#include <vector>

#include "trace/event_batch.h"
#include "trace/linking.h"
#include "trace/trace.h"

namespace telltale {

// One end of an arrow; the category and name are those of its list.
struct FlowPoint {
  Nanoseconds time = 0;
  std::uint64_t byte_offset = 0;
  std::int64_t id_number = 0;
  StringId id = kEmptyString;
  std::uint32_t place = 0;  // index of FlowPlaces
  FlowRole role = FlowRole::kStart;
  bool binds_to_next = false;
};

// All points of one category and name.
struct FlowList {
  FlowKind kind;
  std::vector<FlowPoint> points;
};

// For each place the tracks that it can mean, threads and streams alike.
using FlowPlaces = std::vector<std::vector<TrackId>>;

// Joins starts, steps and ends in the order of time. Arrows that say what `cause` says already (Kineto's ac2g and
// fwdbwd) are checked but not kept; from fwdbwd the forward threads are learned. Ascend's, from its API and from
// operators to device work, become causes where there are none. Needs `parent`.
std::vector<ForwardThread> link_flows(Trace& trace, std::vector<FlowList> lists, const FlowPlaces& places);

}  // namespace telltale
