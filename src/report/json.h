// Results as JSON text, as docs/json.md describes it: members in a fixed order, what is absent as null, times as whole
// nanoseconds. One line a member, and one line an element where a member is a list of objects: short enough to read and
// to compare line by line. Text that is not UTF-8 is repaired.
#pragma once

#include <string>

#include "advise/diagnosis.h"
#include "advise/memory_report.h"
#include "analysis/key_averages.h"
#include "analysis/trace_info.h"
#include "memory/memory_what_if.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace telltale {

std::string to_json(const TraceInfo& info);        // telltale.info/1
std::string to_json(const KeyAverages& averages);  // telltale.top/1
std::string to_json(const WhatIf& answer);         // telltale.whatif/1
// telltale.memory/1; `trace` is the one that it is about.
std::string to_json(const MemoryReport& report, const Trace& trace);
std::string to_json(const MemoryWhatIf& answer);  // telltale.memory_whatif/1
// telltale.analyze/1; `trace` is the one that was diagnosed.
std::string to_json(const Diagnosis& diagnosis, const Trace& trace);

}  // namespace telltale
