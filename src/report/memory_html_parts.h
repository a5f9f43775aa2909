// The pictures of the page about memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "memory/memory_causes.h"
#include "memory/segment_map.h"
#include "trace/trace.h"

namespace telltale::html {

// The class of the page's style sheet that has a use's color: "m0", "m1", …
std::string style_class(MemoryUse use);
std::string memory_style_sheet();

// What is allocated over time, stacked by use; each stretch names what stands there.
std::string stacked_curve(const DeviceCauses& device);
// Segments by address, each a row, with their blocks.
std::string address_map(const std::vector<MappedSegment>& segments, const Trace& trace);
// Rectangles as large as what modules made, of what stands at the peak.
std::string module_treemap(const DeviceCauses& device);

}  // namespace telltale::html
