#include "timeline/lane_index.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"

namespace telltale {

LaneIndex::LaneIndex(const Trace& trace, unsigned threads) : trace_(trace), extents_(trace.tracks.size()) {
  std::vector<std::uint16_t> lane_of_row(trace.events.size());
  std::vector<std::vector<EventId>> counts(trace.tracks.size());
  parallel_for(trace.tracks.size(), threads, [&](std::size_t track) {
    counts[track] = place_track(trace, static_cast<TrackId>(track), lane_of_row);
  });
  list_lanes(counts);
  parallel_for(trace.tracks.size(), threads,
               [&](std::size_t track) { order_track(trace.tracks[track], static_cast<TrackId>(track), lane_of_row); });
  parallel_for(first_sum_.size(), threads, [&](std::size_t lane) {
    const LaneSpans spans{trace_.events, ids_[lane]};
    SpanLine(spans, std::span(sums_).subspan(first_sum_[lane], sums_over(spans.size()))).fill_sums();
  });
}

// Fills in the lane of each row, and returns how many rows each lane has.
std::vector<EventId> LaneIndex::place_track(const Trace& trace, TrackId id, std::vector<std::uint16_t>& lane_of_row) {
  const Events& events = trace.events;
  const Track& track = trace.tracks[id];
  TrackExtent& extent = extents_[id];
  if (track.event_count > 0) extent.first = extent.last = events.start[track.first_event];

  std::vector<EventId> counts;
  std::vector<Nanoseconds> lane_ends;                   // of the last event on each lane
  std::vector<std::uint16_t> below(track.event_count);  // the first lane for what an event contains
  for (EventId i = 0; i < track.event_count; ++i) {
    const EventId event = track.first_event + i;
    const EventId parent = events.parent[event];
    const Nanoseconds start = events.start[event], end = events.end(event);
    const std::size_t first = parent == kNoEvent ? 0 : below[parent - track.first_event];
    std::size_t lane = first;
    while (lane < lane_ends.size() && lane_ends[lane] > start) ++lane;
    lane = std::min(lane, kMostLanes - 1);
    if (lane >= lane_ends.size()) {
      lane_ends.resize(lane + 1, std::numeric_limits<Nanoseconds>::min());
      counts.resize(lane + 1, 0);
    }
    lane_ends[lane] = std::max(lane_ends[lane], end);
    ++counts[lane];
    lane_of_row[event] = static_cast<std::uint16_t>(lane);
    below[i] = static_cast<std::uint16_t>(end > start ? std::min(lane + 1, kMostLanes - 1) : first);
    if (parent == kNoEvent) {
      extent.busy += std::max<Nanoseconds>(0, end - std::max(start, extent.last));
      extent.last = std::max(extent.last, end);
    }
  }
  return counts;
}

void LaneIndex::list_lanes(const std::vector<std::vector<EventId>>& counts) {
  std::vector<std::uint32_t> sizes;
  std::size_t sums = 0;
  first_lane_.reserve(counts.size() + 1);
  for (const std::vector<EventId>& of_track : counts) {
    first_lane_.push_back(sizes.size());
    for (const EventId count : of_track) {
      sizes.push_back(count);
      first_sum_.push_back(sums);
      sums += sums_over(count);
    }
  }
  first_lane_.push_back(sizes.size());
  first_sum_.shrink_to_fit();
  sums_.resize(sums);
  ids_ = CompactIds(sizes);
}

void LaneIndex::order_track(const Track& track, TrackId id, const std::vector<std::uint16_t>& lane_of_row) {
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event)
    ids_.push_back(first_lane_[id] + lane_of_row[event], event);
}

LaneSpans LaneIndex::lane(TrackId track, std::size_t lane) const {
  return {trace_.events, ids_[first_lane_[track] + lane]};
}

std::size_t LaneIndex::lane_of(EventId event) const {
  const TrackId track = trace_.events.track[event];
  const auto stands_on = [&](std::size_t number) {
    const CompactIds::List ids = lane(track, number).ids;
    const std::size_t place = ids.first_from([&](EventId id) { return id < event; });
    return place < ids.size() && ids[place] == event;
  };
  std::size_t number = 0;
  while (number + 1 < lane_count(track) && !stands_on(number)) ++number;
  return number;
}

std::size_t LaneIndex::memory_bytes() const {
  return ids_.memory_bytes() + (first_lane_.capacity() + first_sum_.capacity()) * sizeof(std::size_t) +
         sums_.capacity() * sizeof(SpanSum) + extents_.capacity() * sizeof(TrackExtent);
}

}  // namespace telltale
