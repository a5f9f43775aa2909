// The events with some names, in the order of their start: how many there are, and the next or previous one from any
// event on.
//
// Made in linear time by several threads; then immutable and thread-safe. Takes a bit for each event of the trace,
// which must outlive it, and looks at each track to go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace telltale {

class EventMatches {
 public:
  // `is_wanted` by StringId.
  EventMatches(const Trace& trace, const std::vector<bool>& is_wanted, unsigned threads);

  struct Match {
    EventId event = kNoEvent;
    std::size_t position = 0;  // among all of them, from 0
    bool operator==(const Match&) const = default;
  };

  std::size_t count() const { return count_before_.back(); }
  // Nothing only where there is no match at all: behind the last comes the first, likewise below.
  std::optional<Match> first() const;
  // From an event on that need not match itself.
  std::optional<Match> next(EventId from) const;
  std::optional<Match> previous(EventId from) const;

  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t kBlock = 512;  // events that are counted together

  std::size_t matches_before(EventId event) const;  // in the order of rows
  EventId first_row_from(const Track& track, Nanoseconds start, EventId event) const;
  EventId next_in_rows(EventId from, EventId end) const;
  EventId last_in_rows(EventId begin, EventId end) const;
  std::optional<Match> with_position(EventId event) const;
  EventId first_from(Nanoseconds start, EventId event) const;
  EventId last_before(Nanoseconds start, EventId event) const;

  const Trace& trace_;
  std::vector<std::uint64_t> bits_;          // by event
  std::vector<std::uint32_t> count_before_;  // by block, and all
};

}  // namespace telltale
