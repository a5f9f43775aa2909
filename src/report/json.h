// Results as JSON text, as docs/json.md describes it. What is absent is null; all times are whole nanoseconds.
#pragma once

#include <string>

#include "analysis/key_averages.h"
#include "analysis/trace_info.h"

namespace telltale {

std::string to_json(const TraceInfo& info);        // telltale.info/1
std::string to_json(const KeyAverages& averages);  // telltale.top/1

}  // namespace telltale
