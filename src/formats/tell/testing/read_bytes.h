// Reads a .tell file that stands in memory.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::tell::testing {

Result<Trace> read_bytes(std::string_view bytes, unsigned threads = 1);

}  // namespace telltale::tell::testing
