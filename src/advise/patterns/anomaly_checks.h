// What autograd does while its anomaly detection is on: for every node that the forward pass makes it notes from where,
// as a traceback of Python, and of every gradient that a node of the backward pass gives it asks whether it is NaN.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/facts.h"

namespace telltale {

struct AnomalyChecks {
  std::vector<EventId> calls;       // operators that check gradients, in the steps; empty where detection is off
  std::size_t nodes = 0;            // of the backward pass, in the steps
  std::vector<EventId> tracebacks;  // calls of Python that note them, where such calls were recorded
};

// Linear in events.
AnomalyChecks anomaly_checks(const Facts& facts);

// Whether one of the checks makes a call.
bool is_anomaly_check(const Trace& trace, EventId event);

}  // namespace telltale
