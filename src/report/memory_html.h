// What holds memory, as a page of its own: one file, that fetches nothing and runs no script.
//
// Whatever is pointed at is named by the browser's own hints, so that it works wherever the page is shown.
#pragma once

#include <string>
#include <vector>

#include "advise/memory_report.h"
#include "memory/segment_map.h"
#include "trace/trace.h"

namespace telltale {

// `segments` are those of each device of the report at its peak, in the order of its devices; they may be empty.
std::string memory_html(const MemoryReport& report, const std::vector<std::vector<MappedSegment>>& segments,
                        const Trace& trace);

}  // namespace telltale
