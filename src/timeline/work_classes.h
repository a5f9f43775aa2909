// The class of all device work, worked out once and kept: a byte for each event of a stream.
//
// Immutable once made, and thread-safe. The trace must outlive it.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/work_class.h"
#include "trace/trace.h"

namespace telltale {

class WorkClasses {
 public:
  explicit WorkClasses(const Trace& trace);

  // Of device work on a stream; kOther of anything else.
  WorkClass of(EventId event) const;

  std::size_t memory_bytes() const { return classes_.capacity() + first_.capacity() * sizeof(std::size_t); }

 private:
  const Trace& trace_;
  std::vector<WorkClass> classes_;  // of the events of all streams
  std::vector<std::size_t> first_;  // by track: where its events begin
};

}  // namespace telltale
