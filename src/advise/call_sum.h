// Device work that a rule looks at as one: how much it is, and what of it tells most.
#pragma once

#include <span>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Of a trace's steps.
class CallSum {
 public:
  explicit CallSum(const Facts& facts) : facts_(facts) {}

  void add(EventId work) {
    calls_.push_back(work);
    total_ += facts_.trace.events.duration[work];
  }

  bool empty() const { return calls_.empty(); }
  std::span<const EventId> calls() const { return calls_; }
  double calls_a_step() const { return static_cast<double>(calls_.size()) / facts_.steps(); }
  Nanoseconds total() const { return total_; }  // of all steps
  Nanoseconds time_a_step() const { return static_cast<Nanoseconds>(static_cast<double>(total_) / facts_.steps()); }

  // As many as a finding takes; not empty unless the sum is.
  std::vector<EventId> longest() const;

 private:
  const Facts& facts_;
  std::vector<EventId> calls_;
  Nanoseconds total_ = 0;
};

}  // namespace telltale
