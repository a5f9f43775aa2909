// Which of a program's allocations grow with its batch.
//
// From two recordings of different batch sizes: what each call stack asked for in one and in the other, block by block
// where it asked as often in both. From one recording: what is allocated and freed again grows; what was there before,
// what stays, and what the program noted as parameter, gradient or optimizer state does not. Blocks of the size of
// something that stays may be its gradient, and those that live across steps or until the program ends may be either:
// they make the range.
//
// Pure and thread-safe; O(n log n) in requests.
#pragma once

#include <string>
#include <vector>

#include "memory/simulator/allocator_requests.h"
#include "trace/trace.h"

namespace telltale {

struct BatchScaling {
  // By block, how much of it grows with the batch, from 0 to 1: as little and as much as it may be.
  std::vector<double> least, most;
  bool is_from_two = false;
  double batch_ratio = 0;  // of the two recordings; 0 where there is one
  std::string remark;      // why the other recording was of no use; may be empty

  bool is_exact() const { return least == most; }
};

BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests);
BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests, const Trace& other,
                           const AllocatorRequests& others);

// How many times its bytes each block has when the batch is so many times as large.
std::vector<double> scale_of(const std::vector<double>& shares, double batch_factor);

}  // namespace telltale
