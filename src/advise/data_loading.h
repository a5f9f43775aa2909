// What the program waits for when it asks its data loader for the next batch, for the rules about loading.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct DataLoading {
  std::vector<EventId> calls;       // of the loader, on the threads that feed the device; longest first
  Nanoseconds recorded = 0;         // a step, in those calls
  bool is_in_main_process = false;  // the batch is made by the thread that asks for it
  Nanoseconds saved = 0;            // a step, with batches made ahead by worker processes; never negative
};

DataLoading data_loading(const Facts& facts);

}  // namespace telltale
