// A piece of the picture: what is drawn of some tracks in a thousand buckets of time. See span_sums.h for what is drawn
// together.
//
// Pure and thread-safe; takes time for each lane and bucket, however many events there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/host_work.h"
#include "timeline/timeline.h"

namespace telltale {

// A bucket is 2^level ns wide, and a tile 1,024 buckets.
struct TilePlace {
  static constexpr unsigned kMostLevel = 50;
  static constexpr unsigned kBucketBits = 10;
  unsigned level = 0;  // at most kMostLevel
  std::int64_t tile = 0;

  // Whether it lies within what 64 bits of nanoseconds can tell.
  bool is_valid() const {
    return level <= kMostLevel && tile >= 0 && tile < std::int64_t{1} << (62 - kBucketBits - level);
  }
  Interval window() const { return {tile << (level + kBucketBits), (tile + 1) << (level + kBucketBits)}; }
};

struct TileSpan {
  Nanoseconds start = 0, duration = 0;
  EventId event = kNoEvent;  // the longest; of an idle time what is to blame, if anything is
  std::uint32_t events = 1;  // of idle times, all that are drawn together, whatever their cause
  TrackId track = 0;
  float busy = 1;  // share of the duration
  std::uint16_t lane = 0;
  std::optional<HostWork> cause;  // of an idle time
};

// By track as given, lane and start. Idle times that are drawn together are a span for each cause, all with the same
// start and duration. The place must be valid; tracks that are not shown, and counters, have no spans.
std::vector<TileSpan> tile_spans(const Timeline& timeline, TilePlace place, std::span<const TrackId> tracks);

}  // namespace telltale
