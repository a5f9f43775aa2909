// How many threads torch computes with on a host, and how many of them find a processor.
#pragma once

#include <optional>

#include "advise/facts.h"

namespace telltale {

struct HostThreads {
  double threads = 0;     // that torch computes with
  double processors = 0;  // that the program may use
  double by_others = 0;   // processors that other programs keep busy during the steps, on average
  double by_workers = 0;  // and the program's own workers that load data
  double idle = 0;        // processors that nobody keeps busy; all but the threads where that was not measured

  // Of a processor's time, what a thread gets that always wants to run, as those do that wait without sleeping.
  double share_of_thread = 1;

  // As many as have a processor to themselves beside what others do, at least one.
  double useful_at_most() const;
  // The present ones and those that idle processors could run.
  double useful_at_least() const;
};

// Nothing where the recording does not say, or a device computes.
std::optional<HostThreads> host_threads(const Facts& facts);

}  // namespace telltale
