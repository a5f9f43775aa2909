#include "advise/models/worker_model.h"

#include <algorithm>

namespace telltale {
namespace {

constexpr double kNextToNothing = 1.02;

double speed_of(int workers) { return std::clamp(kSpeedOfWorker * workers, 1.0, kSpeedOfWorkers); }

}  // namespace

// Workers that wait do not get into each other's way.
double BatchMaking::made_by(int workers) const {
  const double busy = static_cast<double>(alone) * processor_share;
  return busy / speed_of(workers) + (static_cast<double>(alone) - busy) / workers;
}

double BatchMaking::least_by_processors() const {
  if (!processors) return 0;
  return (static_cast<double>(other_work) + static_cast<double>(alone) * processor_share) / *processors;
}

Nanoseconds BatchMaking::step_with(int workers) const {
  return static_cast<Nanoseconds>(std::max({static_cast<double>(rest), made_by(workers), least_by_processors()}));
}

int BatchMaking::best_workers(int most) const {
  int workers = 1;
  const double least = static_cast<double>(step_with(most)) * kNextToNothing;
  while (workers<most&& static_cast<double>(step_with(workers))> least) ++workers;
  return workers;
}

bool BatchMaking::is_short_of_processors(int workers) const {
  return least_by_processors() > std::max(static_cast<double>(rest), made_by(workers));
}

}  // namespace telltale
