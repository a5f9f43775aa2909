// A recording of a running process: chunks of records and what they refer to.
#pragma once

#include "base/error.h"
#include "formats/tell/frames.h"
#include "trace/trace.h"

namespace telltale::tell {

// The result does not depend on the number of threads. Damage is counted, never an error.
Result<Trace> read_recording(const FrameScan& scan, std::uint64_t file_bytes, unsigned threads);

}  // namespace telltale::tell
