// By how much the memory in use changed during a span of time.
//
// Counts what all threads of a process allocated and freed, as torch.profiler does: a step whose backward pass
// runs on autograd's thread is charged with it, and a step that keeps nothing shows zero.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct MemoryChange {
  std::int64_t host = 0, device = 0;  // bytes; negative when more was freed than allocated
};

class MemoryChanges {
 public:
  explicit MemoryChanges(const Trace& trace);
  bool empty() const { return is_empty_; }

  // Answers for spans of one process in the order of their starts; each answer costs the logarithm of the number of
  // allocations inside the span. Refers to the MemoryChanges it was made from.
  class Walk {
   public:
    MemoryChange during(Nanoseconds start, Nanoseconds end);  // both ends included

   private:
    friend class MemoryChanges;
    struct Series;
    explicit Walk(const Series* series) : series_(series) {}
    const Series* series_;
    std::size_t first_ = 0;
  };
  Walk walk(ProcessId process) const;

 private:
  std::vector<Walk::Series> series_;  // by process
  bool is_empty_ = true;
};

struct MemoryChanges::Walk::Series {
  std::vector<Nanoseconds> time;    // ascending
  std::vector<MemoryChange> until;  // until[i]: the sum of all changes before the i-th; one more than `time`
};

}  // namespace telltale
