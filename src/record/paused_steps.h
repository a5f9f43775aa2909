// The steps of the pause that goes on, which are recorded when it ends.
//
// The session's own, under its mutex.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/pause_plan.h"

namespace telltale::record {

class PausedSteps {
 public:
  void add(std::uint64_t start, std::uint64_t duration) {
    if (count_ < PausePlan::kLongestPause) spans_[count_++] = {start, duration};
  }
  void clear() { count_ = 0; }
  // Records them, as annotations.
  void emit_all() const;

 private:
  struct Span {
    std::uint64_t start, duration;  // ticks
  };
  Span spans_[PausePlan::kLongestPause] = {};
  std::size_t count_ = 0;
};

}  // namespace telltale::record
