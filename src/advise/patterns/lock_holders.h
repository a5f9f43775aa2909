// What other threads do while one waits for a lock: the line that is at work most of that time is likely to hold it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/source_line.h"
#include "trace/trace.h"

namespace telltale {

struct LockHolder {
  std::string thread;
  SourceLine source;
};

// The line of the user's, on any other thread, that is open for most of the time that the calls take; nothing where no
// line is open for at least half of it. A thread that itself waits for a lock holds none up.
std::optional<LockHolder> lock_holder(const Trace& trace, const std::vector<EventId>& waits);

}  // namespace telltale
