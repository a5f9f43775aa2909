// What twice the batch would do to a step.
//
// The optimizer and what else moves parameters does not change. Products of few rows wait for their weights and for
// rows that only fill up a tile. Kernels that leave multiprocessors empty fill these first. All else takes twice as
// long.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// How much longer device work takes at twice the batch.
class BatchGrowth {
 public:
  // Of what leaves room on the device: work that fills less than half of it.
  static constexpr float kMostGrowthWithRoom = 1.5F;

  // The facts must outlive it.
  explicit BatchGrowth(const Facts& facts);

  // 1 to 2. Collectives are taken to grow as the batch does: those of gradients do not, but a trace does not tell.
  float of(const DeviceCall& call) const;
  // Whether a call leaves so much of the device empty that twice the batch takes it less than half longer.
  bool leaves_room(const DeviceCall& call) const { return of(call) < kMostGrowthWithRoom; }
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

// The step at twice the batch: device work takes as much longer as BatchGrowth says; loading, copies from the
// host, operators that compute on the CPU and freeing what these have made, and loops over rows or other parts of
// tensors take twice as long. Other Python, dispatch and launches stay.
Edit doubled_batch(const Facts& facts);

// What a sample costs less at twice the batch, as time of a step at the present one. Negative when it would cost more.
Nanoseconds saved_by_doubled_batch(const Facts& facts);

// A larger batch changes training: it is proposed only where a sample would cost this much less, in percent.
inline constexpr double kLeastPercentOfLargerBatch = 15;

// What twice the batch does not prolong by as much: host work and kernels that leave room. For Finding::reach.
std::vector<EventId> unchanged_by_doubled_batch(const Facts& facts);

// Kernels that twice the batch would hardly prolong or, where there are none, all; the longest, without those that
// communicate or move parameters.
std::vector<EventId> kernels_for_larger_batch(const Facts& facts);

// A larger batch, in the words of training or of serving.
Fix larger_batch_fix(const Facts& facts);

// Of the device's memory, with room for what is not tensors.
inline constexpr double kUsableMemory = 0.9;

// Whether twice the peak still fits, as far as the trace tells; nothing when it does not tell the peak, or the size
// of the device.
std::optional<bool> has_memory_for_doubled_batch(const Facts& facts);

}  // namespace telltale
