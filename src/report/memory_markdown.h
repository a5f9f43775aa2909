// What holds memory, as Markdown: as a comment on a pull request wants it.
#pragma once

#include <string>

#include "advise/memory_report.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that it is about.
std::string memory_markdown(const MemoryReport& report, const Trace& trace);

}  // namespace telltale
