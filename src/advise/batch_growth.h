// How much longer device work takes at twice the batch.
//
// The optimizer and what else moves parameters does not change. Products of few rows wait for their weights and for
// rows that only fill up a tile. Kernels that leave multiprocessors empty fill these first. All else takes twice as
// long.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "advise/facts.h"

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
  // [rows, inner] × [inner, columns]
  struct Product {
    double rows = 0, inner = 0, columns = 0;
  };
  static double seconds_of(const Product& product, const GpuPeaks& peaks, KernelTraits traits);

  void find_parameters();
  void find_products();
  // The index of its arguments, equal ones having the same; nothing where they were not recorded.
  std::optional<std::uint32_t> inputs_of(EventId op) const;
  float growth_of_product(const DeviceCall& call) const;

  const Facts& facts_;
  std::vector<bool> walks_through_batch_, may_move_parameters_;  // by name
  std::vector<bool> is_parameter_;                               // by inputs: the first one has the shape of one
  std::vector<std::optional<Product>> products_;                 // by inputs
  std::set<double> rows_;  // of the forward pass's products: what grows with the batch
};

}  // namespace telltale
