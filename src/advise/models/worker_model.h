// What worker processes that make batches ahead of time would do to a step.
#pragma once

#include <optional>

#include "base/time.h"

namespace telltale {

// Eight workers make batches about five times as fast as one does, or as the program itself: measured 4.6 times where
// the loader remained the bottleneck and processors were left over.
inline constexpr int kMostWorkers = 8;
inline constexpr double kSpeedOfWorkers = 5, kSpeedOfWorker = 0.65;

// All per step, of the program as it runs without the recorder.
struct BatchMaking {
  Nanoseconds rest = 0;              // the step where every batch is ready when it is asked for
  Nanoseconds alone = 0;             // a single process needs for the step's batches
  double processor_share = 1;        // of that time in which it keeps a processor busy, and does not wait
  Nanoseconds other_work = 0;        // processor time of all else that the program does
  std::optional<double> processors;  // that are there for the program; nothing where that is not known

  // No step is shorter than its batches take so many workers, nor than its work takes all processors.
  Nanoseconds step_with(int workers) const;
  // The fewest of at most `most` with which a step takes the least, or next to nothing more.
  int best_workers(int most) const;
  // Whether a step with so many workers takes as long as it does since all processors are busy.
  bool is_short_of_processors(int workers) const;

 private:
  double made_by(int workers) const;
  double least_by_processors() const;
};

}  // namespace telltale
