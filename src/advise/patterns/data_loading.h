// What the program waits for when it asks its data loader for the next batch, for the rules about loading.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct DataLoading {
  std::vector<EventId> calls;       // of the loader, on the threads that feed the device; longest first
  Nanoseconds recorded = 0;         // a step, in those calls
  bool is_in_main_process = false;  // the batch is made by the thread that asks for it
  int workers = 8;                  // that the machine has processors for, as far as known; 8 at most
  Nanoseconds saved = 0;            // a step, with batches made ahead by so many worker processes; never negative
};

DataLoading data_loading(const Facts& facts);

}  // namespace telltale
