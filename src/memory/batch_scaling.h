// Which of a program's allocations grow with its batch.
//
// From two recordings of different batch sizes: what each call stack asked for in one and in the other, block by block
// where it asked as often in both, else by the sizes that it asked for. From one recording: what is allocated and freed
// again grows; what was there before, what stays, and what the program noted as parameter, gradient or optimizer state
// does not. Of the size of something that stays, what outlives the backward pass is its gradient and what the optimizer
// makes its temporary, which do not grow either; other blocks of such a size may be a gradient's temporary or happen to
// be as large. Those that live across steps or until the program ends may be either. Each of these doubts is decided
// for all its blocks alike, with what is kept for the backward pass apart from the rest, in every way that there is:
// what an allocator reserves may be most when some blocks grow and others do not.
//
// Pure and thread-safe; O(n log n) in requests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "memory/memory_uses.h"
#include "memory/simulator/allocator_requests.h"
#include "trace/trace.h"

namespace telltale {

// Of a block that grows with the square of the batch, as a product of all samples with all others. Only two recordings
// tell that.
inline constexpr double kGrowsAsSquare = 2;

struct BatchScaling {
  // The ways in which memory may grow, each as how much of each block grows with the batch, from 0 to 1, or
  // kGrowsAsSquare. One where
  // there is no doubt, eight at most; in the first, no doubtful block grows, in the last, all do.
  std::vector<std::vector<double>> ways;
  bool is_from_two = false;
  double batch_ratio = 0;  // of the two recordings; 0 where there is one
  std::string remark;      // why the other recording was of no use; may be empty
};

// `uses`: what the blocks of the requests' device are for.
BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests, std::span<const UsedBlock> uses);
BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests, std::span<const UsedBlock> uses,
                           const Trace& other, const AllocatorRequests& others);

// How many times its bytes each block has when the batch is so many times as large.
std::vector<double> scale_of(const std::vector<double>& shares, double batch_factor);

}  // namespace telltale
