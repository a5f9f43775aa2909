// How much longer device work takes at twice the batch.
//
// The optimizer and what else moves parameters does not change. Products of few rows wait for their weights and for
// rows that only fill up a tile. Kernels that leave multiprocessors empty fill these first. All else takes twice as
// long.
#pragma once

#include <set>

#include "advise/facts.h"
#include "trace/shapes.h"

namespace telltale {

class BatchGrowth {
 public:
  // The facts must outlive it.
  explicit BatchGrowth(const Facts& facts);

  // 1 to 2.
  float of(const DeviceCall& call) const;
  // Casts, fills and sums of parameters and of their gradients; the optimizer's work.
  bool moves_parameters(const DeviceCall& call) const;

 private:
  float growth_of_product(const DeviceCall& call) const;

  const Facts& facts_;
  std::set<Shape> parameters_;   // shapes of matrices that have gradients
  std::set<std::int64_t> rows_;  // of the forward pass's products: what grows with the batch
};

}  // namespace telltale
