// What holds memory, for a terminal: the peak, what stands there, what grows, and what would free some.
#pragma once

#include <string>

#include "advise/memory_report.h"
#include "report/palette.h"

namespace telltale {

std::string memory_text(const MemoryReport& report, const TextStyle& style);

}  // namespace telltale
