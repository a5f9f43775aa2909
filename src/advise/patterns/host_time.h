// The host's time as a replay has it: which event it is shown as, and what stands before and behind.
//
// Pure and thread-safe; linear in the events of the steps.
#pragma once

#include <functional>

#include "advise/facts.h"
#include "analysis/host_timeline.h"

namespace telltale {

struct HostMoment {
  HostSegment here;
  EventId before = kNoEvent, behind = kNoEvent;  // what is shown before it and after it
};

// Of all steps, line by line of host work, in order.
void visit_host_time(const Facts& facts, const std::function<void(const HostMoment&)>& visit);

}  // namespace telltale
