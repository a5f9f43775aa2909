// What only some events have, keyed by event: two columns, sorted by event, looked up by binary search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace telltale {

using EventId = std::uint32_t;
inline constexpr EventId kNoEvent = UINT32_MAX;

template <typename Row>
class SideTable {
 public:
  void reserve(std::size_t rows) {
    events_.reserve(rows);
    rows_.reserve(rows);
  }
  // Events must come in ascending order, each once.
  void append(EventId event, Row row) {
    events_.push_back(event);
    rows_.push_back(row);
  }

  // Null when the event has no such row.
  const Row* find(EventId event) const {
    const auto at = std::lower_bound(events_.begin(), events_.end(), event);
    if (at == events_.end() || *at != event) return nullptr;
    return &rows_[static_cast<std::size_t>(at - events_.begin())];
  }

  std::size_t size() const { return events_.size(); }
  bool empty() const { return events_.empty(); }
  EventId event(std::size_t i) const { return events_[i]; }
  const Row& row(std::size_t i) const { return rows_[i]; }

  std::size_t memory_bytes() const { return events_.capacity() * sizeof(EventId) + rows_.capacity() * sizeof(Row); }

 private:
  std::vector<EventId> events_;
  std::vector<Row> rows_;
};

// Looks up the rows of a side table for events that mostly come in ascending order, without searching anew each time.
template <typename Row>
class SideTableWalk {
 public:
  SideTableWalk() = default;
  explicit SideTableWalk(const SideTable<Row>& table) : table_(&table) {}

  // Null when the event has no such row. Requires a table.
  const Row* find(EventId event) {
    if (next_ > 0 && table_->event(next_ - 1) >= event) next_ = 0;  // the walk starts again
    while (next_ < table_->size() && table_->event(next_) < event) ++next_;
    if (next_ == table_->size() || table_->event(next_) != event) return nullptr;
    return &table_->row(next_);
  }

 private:
  const SideTable<Row>* table_ = nullptr;
  std::size_t next_ = 0;  // every row before it belongs to an earlier event than the last one asked for
};

}  // namespace telltale
