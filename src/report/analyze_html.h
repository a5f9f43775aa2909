// A diagnosis as one page: no network, no script, readable in light and dark, under 2 MB whatever the trace.
#pragma once

#include <string>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string analyze_html(const Diagnosis& diagnosis, const Trace& trace);

}  // namespace telltale
