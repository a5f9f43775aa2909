// Rows of the tables that the model keeps as columns, and what of them is told by the rows before.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "formats/tell/table_rows.h"

namespace telltale::tell {

// The track follows from the tracks' ranges, the parent from the times.
struct EventRow {
  std::uint32_t label = 0;
  Nanoseconds start = 0, duration = 0;
  EventId cause = kNoEvent;
};

template <typename Columns, RowOf<EventRow> Row>
void columns_of(Columns& columns, Row& row) {
  columns.index(row.label, TableId::kLabels);
  columns.rising(row.start);
  columns.unsigned_integer(row.duration);
  columns.event(row.cause);
}

struct MemoryRow {
  Nanoseconds time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  DeviceId device = kHost;
  std::int64_t allocated_beyond = 0, reserved_beyond = 0;  // see MemoryTotals
  TrackId track = 0;
  EventId event = kNoEvent;
  StringId pool = kEmptyString;
};

template <typename Columns, RowOf<MemoryRow> Row>
void columns_of(Columns& columns, Row& row) {
  columns.rising(row.time);
  columns.rising(row.address);
  columns.integer(row.bytes);
  columns.integer(row.device);
  columns.integer(row.allocated_beyond);
  columns.integer(row.reserved_beyond);
  columns.index(row.track, TableId::kTracks);
  columns.event(row.event);
  columns.text(row.pool);
}

// What the totals of a device should be after an event, from those after the one before it: allocated grows by the
// event's bytes, reserved does not change. Only what differs is written. Sums wrap, as the bytes of a file may be
// anything.
class MemoryTotals {
 public:
  struct Totals {
    std::uint64_t allocated = 0, reserved = 0;
  };
  Totals& expected(DeviceId device, std::int64_t bytes) {
    Totals& totals = by_device_[device];
    totals.allocated += static_cast<std::uint64_t>(bytes);
    return totals;
  }

 private:
  std::unordered_map<DeviceId, Totals> by_device_;
};

struct CounterRow {
  Nanoseconds time = 0;
  double value = 0;
};

template <typename Columns, RowOf<CounterRow> Row>
void columns_of(Columns& columns, Row& row) {
  columns.rising(row.time);
  columns.real(row.value);
}

// The event that a row of a side table is about: they ascend.
struct EventKey {
  EventId event = 0;
};

template <typename Columns, RowOf<EventKey> Row>
void columns_of(Columns& columns, Row& row) {
  columns.rising(row.event);
}

}  // namespace telltale::tell
