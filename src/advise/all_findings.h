// What all rules find about a trace, held to what every finding keeps to:
//
// - One change to the program is one finding: see ranked().
// - A finding promises no more than its events can pay: the step less what it would take without any of them.
// - What promises time shows events and, where stacks were recorded, a line of the program.
#pragma once

#include <string>
#include <vector>

#include "advise/facts.h"
#include "advise/finding.h"

namespace telltale {

// Of the rules named, or of all when none is; without those about time that save less than `least`.
// `keeps_memory_edits`: for Finding::memory_edit.
std::vector<Finding> all_findings(const Facts& facts, const std::vector<std::string>& rules, Nanoseconds least,
                                  bool keeps_memory_edits = false);

// The most that a change to these events can save: what a step takes less when each is gone, a call with all that it
// contains and launches, and nothing in them waits. `events` ascend.
Nanoseconds most_saved_by(const Facts& facts, const std::vector<EventId>& events);

}  // namespace telltale
