// A diagnosis as one page: no network, readable in light and dark, under 2 MB whatever the trace. Its script lets one
// zoom into a step; without it, all is there to be read. It names the trace's file, and no folder.
#pragma once

#include <string>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string analyze_html(const Diagnosis& diagnosis, const Trace& trace);

}  // namespace telltale
