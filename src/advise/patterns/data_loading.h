// What the program waits for when it asks its data loader for the next batch, for the rules about loading.
#pragma once

#include <string>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Eight workers make batches about five times as fast as one does, or as the program itself: measured 4.6 times where
// the loader remained the bottleneck, and 1.3 to 1.4 times with two on two processors.
inline constexpr int kMostWorkers = 8;
inline constexpr double kSpeedOfWorkers = 5, kSpeedOfWorker = 0.65;

struct DataLoading {
  std::vector<EventId> calls;       // of the loader, on the threads that feed the device; longest first
  Nanoseconds recorded = 0;         // per step, in those calls
  bool is_in_main_process = false;  // the batch is made by the thread that asks for it
  int workers = kMostWorkers;       // that the machine has processors for, as far as known; kMostWorkers at most
  Nanoseconds saved = 0;            // per step, with batches made ahead by so many worker processes; never negative
};

DataLoading data_loading(const Facts& facts);

// The change that gives a loader without workers as many as the machine has processors for.
std::string code_with_workers(const DataLoading& loading);

}  // namespace telltale
