// A trace that was written as tables (see write.h): columns are decoded straight into their places.
#pragma once

#include <string>

#include "base/error.h"
#include "formats/tell/frames.h"
#include "trace/trace.h"

namespace telltale::tell {

// Whether the file is one of tables, not the recording of a process.
bool has_tables(const FrameScan& scan);

// A file that lacks something, or in which something cannot be, is refused: unlike a recording it was complete once.
Result<Trace> read_tables(const FrameScan& scan, const std::string& path, unsigned threads);

}  // namespace telltale::tell
