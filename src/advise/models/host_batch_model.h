// What a larger batch would do to a step on a CPU.
//
// Dispatch, autograd, Python around operators and the optimizer take as long for many samples as for few. Loading,
// loops over rows, Python of the user's own and what operators do with their data grow as the batch does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/facts.h"

namespace telltale {

class HostBatchModel {
 public:
  // A larger batch changes training: it must pay by this much for every doubling, in percent of a sample's time.
  static constexpr double kLeastPercentOfDoubling = 15;
  static constexpr int kMostGrowth = 16;

  // The facts must outlive it.
  explicit HostBatchModel(const Facts& facts);

  // How many times the batch still pays; 1 where no larger one does.
  int growth() const { return growth_; }
  // The program at so many times the batch.
  Edit grown(int growth) const;
  // What a sample costs less at growth(), as time of a step.
  Nanoseconds saved() const { return facts_.step - grown_step_ / growth_; }
  // Of the present step, what does not grow.
  double fixed_percent() const;
  // Samples of a batch: what the first layer of the forward pass gets, the same in most steps.
  std::optional<std::int64_t> batch() const;
  // What does not grow in proportion, and what stands around it: for Finding::reach.
  std::vector<EventId> fixed_events() const;

 private:
  // A step at so many times the batch: a replay.
  Nanoseconds step_at(int growth) const;
  void find_shares();

  const Facts& facts_;
  std::vector<float> share_;  // by event: of its own time, what grows as the batch does
  int growth_ = 1;
  Nanoseconds doubled_step_ = 0, grown_step_ = 0;  // at twice the batch, and at growth()
};

}  // namespace telltale
