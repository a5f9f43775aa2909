// Looks up the rows of a side table for events that mostly come in ascending order, without searching anew each time.
#pragma once

#include "trace/side_table.h"

namespace telltale {

template <typename Row>
class SideTableWalk {
 public:
  explicit SideTableWalk(const SideTable<Row>& table) : table_(&table) {}

  // Null when the event has no such row.
  const Row* find(EventId event) {
    if (next_ > 0 && table_->event(next_ - 1) >= event) next_ = 0;  // the walk starts again
    while (next_ < table_->size() && table_->event(next_) < event) ++next_;
    if (next_ == table_->size() || table_->event(next_) != event) return nullptr;
    return &table_->row(next_);
  }

 private:
  const SideTable<Row>* table_;
  std::size_t next_ = 0;  // every row before it belongs to an earlier event than the last one asked for
};

}  // namespace telltale
