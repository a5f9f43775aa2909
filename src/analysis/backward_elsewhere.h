// When threads other than the one that asked for it work on a backward pass, as autograd's do for a GPU. Who asked
// waits for them meanwhile, which is no wait of the program's own.
//
// Pure and thread-safe once made; a search for each wait.
#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

class BackwardElsewhere {
 public:
  explicit BackwardElsewhere(const Trace& trace);

  // Whether an operator of such a pass begins while the event goes on.
  bool begins_within(EventId wait) const;

 private:
  const Trace& trace_;
  std::vector<std::pair<Nanoseconds, TrackId>> begins_;  // ascending
};

}  // namespace telltale
