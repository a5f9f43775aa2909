// What a trace says of one event besides its name and times, as names and texts with units: shapes, bytes, how a kernel
// was launched, arguments that no column holds. Made from the descriptions of the trace's tables (trace/details.h), so
// that a new column shows up by itself.
//
// Pure and thread-safe; a search in each table.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct EventFact {
  std::string name;   // "input shapes", "grid"
  std::string value;  // "[[16,1000],[]]", "128 × 1 × 1", "4.00 KiB"
  bool operator==(const EventFact&) const = default;
};

// Stacks, links to other events and places in the source are none of them.
std::vector<EventFact> event_facts(const Trace& trace, EventId event);

}  // namespace telltale
