// Where one epoch ends and the next one starts its loader's worker processes anew.
//
// Pure and thread-safe.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace telltale {

struct EpochSeam {
  EventId start = kNoEvent;       // the annotation of the start of workers
  EventId last_call = kNoEvent;   // of the epoch before: it finds no batch any more and stops the workers
  EventId first_call = kNoEvent;  // of the new epoch: it waits until a worker has made a batch
  std::vector<EventId> between;   // what else the loader does there, the start among it
};

// `calls` are all outermost calls of loaders. Samples tear calls apart: those without a batch belong to their
// neighbors.
struct LoaderCalls {
  std::vector<EpochSeam> seams;
  std::vector<EventId> steady;  // all others, as they were given
  double batches = 0;           // that these ask for
};
LoaderCalls loader_calls(const Trace& trace, const std::vector<EventId>& calls);

}  // namespace telltale
