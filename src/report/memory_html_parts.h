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

// Drawings are so wide, and stretched to their room.
inline constexpr double kWidth = 1000, kHeight = 240;
std::string drawing(double height, std::string_view label, std::string_view body);
std::string rectangle(double x, double y, double width, double height, std::string_view style, std::string_view hint);

// What is allocated over time, stacked by use, and what is reserved; each stretch names what stands there.
std::string stacked_curve(const DeviceCauses& device);
// Segments by address, each a row as wide as it is large, with their blocks.
std::string address_map(const std::vector<MappedSegment>& segments, const Trace& trace);
// Rectangles as large as what modules made, of what stands at the peak.
std::string module_treemap(const DeviceCauses& device);

}  // namespace telltale::html
