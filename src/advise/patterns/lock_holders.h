// What other threads do while one waits for a lock: the line that is at work most of that time is likely to hold it.
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/source_line.h"
#include "analysis/wait_names.h"
#include "trace/trace.h"

namespace telltale {

struct LockHolder {
  std::string thread;
  SourceLine source;
};

// The line of the user's, on any other thread, that is open for most of the time that the calls take; nothing where no
// line is open for at least half of it. A thread that itself waits for a lock holds none up.
std::optional<LockHolder> lock_holder(const Trace& trace, const std::vector<EventId>& waits);

// Of waits for a lock, the time in which whoever holds it waits as well, for something that needs no lock.
struct IdleHolding {
  std::vector<Nanoseconds> idle;     // of each wait, in their order
  Nanoseconds total = 0;             // of all
  std::optional<SourceLine> source;  // the line on which holders wait most
  WaitFor what = WaitFor::kNothing;  // what they wait for there
};

// Who holds a lock is not recorded. It is taken to be held by the function that waits for it, from that line on: as
// long as some wait for the lock, others spend their time there, and as large a share of it waiting as they do on the
// whole. Short calls are known by their samples on average alone, so that what they cover of one another says less.
// Where that function waits for nothing else, the lock is held by lock_holder().
IdleHolding idle_holding(const Trace& trace, const std::vector<EventId>& lock_waits);

}  // namespace telltale
