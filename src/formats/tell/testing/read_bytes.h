// Reads a .tell file that stands in memory, and shows what came out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::tell::testing {

Result<Trace> read_bytes(std::string_view bytes, unsigned threads = 1);

// "kind name start+duration on track", in the order of the rows.
std::vector<std::string> rows(const Trace& trace);

// The example of an anomaly; "(none)" when it did not occur.
std::string example_of(const Trace& trace, Anomaly anomaly);

}  // namespace telltale::tell::testing
