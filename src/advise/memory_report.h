// Everything `telltale memory` knows about a trace: what holds its memory, what grows, and what would free some.
//
// All views read this, and compute nothing of their own. Pure and thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/finding.h"
#include "analysis/step_range.h"
#include "memory/memory_causes.h"
#include "trace/trace.h"

namespace telltale {

struct MemoryReport {
  std::string path;                       // as the caller names it
  std::vector<std::string> device_names;  // by device of the causes; empty where the trace does not say
  std::string device_word = "GPU";        // what sentences call the devices
  std::size_t steps = 0;                  // that the trace has; 0: none were found
  MemoryCauses causes;
  std::vector<Finding> findings;  // about memory: what frees most for the time that it costs first
  std::vector<std::string> remarks;
  std::size_t urgent_remarks = 0;  // the first so many of them come before all else
};

// Whether there is anything to tell.
bool has_memory(const Trace& trace);

// `keeps_edits`: findings have their memory_edit.
MemoryReport memory_report(const Trace& trace, const std::optional<StepRange>& steps = {}, bool keeps_edits = false);

// The ids of all rules that it asks, those of rules/ first.
std::vector<std::string> rules_about_memory();

}  // namespace telltale
