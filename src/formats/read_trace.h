// Reads a trace of whatever format a file turns out to have.
#pragma once

#include <string>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "trace/trace.h"

namespace telltale {

// `path` may be "-" for standard input.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

}  // namespace telltale
