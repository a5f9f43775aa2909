// Where the events of each track are drawn: what is called stands a lane below its caller, and what overlaps another
// event without being inside it stands on the first lane below its own caller where there is room. So the events of a
// lane follow one another, and each lane can be drawn at any zoom (span_sums.h).
//
// Marks without a duration take no lane of their own away from what starts with them. A track has at most kMostLanes;
// what would stand deeper shares the last one.
//
// Built in linear time by several threads; then immutable and thread-safe. Takes about 3.3 bytes an event. The trace
// must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "timeline/compact_ids.h"
#include "timeline/span_sums.h"
#include "trace/trace.h"

namespace telltale {

inline constexpr std::size_t kMostLanes = 1000;

// The events of a lane, in order.
struct LaneSpans {
  const Events& events;
  CompactIds::List ids;

  std::size_t size() const { return ids.size(); }
  Nanoseconds start(std::size_t i) const { return events.start[ids[i]]; }
  Nanoseconds duration(std::size_t i) const { return events.duration[ids[i]]; }
};

// Of the outermost events of a track.
struct TrackExtent {
  Nanoseconds first = 0, last = 0;  // when the first begins and the last ends; 0 where there are none
  Nanoseconds busy = 0;             // each instant once
};

class LaneIndex {
 public:
  LaneIndex(const Trace& trace, unsigned threads);

  std::size_t lane_count(TrackId track) const { return first_lane_[track + 1] - first_lane_[track]; }
  const TrackExtent& extent(TrackId track) const { return extents_[track]; }
  LaneSpans lane(TrackId track, std::size_t lane) const;

  // On which lane of its track the event stands.
  std::size_t lane_of(EventId event) const;

  // Calls visit(DrawnSpan, EventId of the longest) for what is drawn of a lane: see SpanLine::draw.
  template <typename Visit>
  void draw(TrackId track, std::size_t lane_number, unsigned level, Interval window, Visit visit) const {
    const LaneSpans spans = lane(track, lane_number);
    const SpanLine<LaneSpans> line(spans, sums_of(first_lane_[track] + lane_number));
    line.draw(level, window, [&](const DrawnSpan& drawn) { visit(drawn, spans.ids[drawn.longest]); });
  }

  std::size_t memory_bytes() const;

 private:
  std::vector<EventId> place_track(const Trace& trace, TrackId track, std::vector<std::uint16_t>& lane_of_row);
  void list_lanes(const std::vector<std::vector<EventId>>& counts);
  void order_track(const Track& track, TrackId id, const std::vector<std::uint16_t>& lane_of_row);
  std::span<const SpanSum> sums_of(std::size_t lane) const {
    return std::span(sums_).subspan(first_sum_[lane], sums_over(ids_[lane].size()));
  }

  const Trace& trace_;
  CompactIds ids_;                       // a list for each lane of all tracks
  std::vector<std::size_t> first_lane_;  // by track, and the end
  std::vector<std::size_t> first_sum_;   // by lane
  std::vector<SpanSum> sums_;
  std::vector<TrackExtent> extents_;
};

}  // namespace telltale
