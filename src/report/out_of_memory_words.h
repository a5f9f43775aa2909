// What a recording says of memory that ran out, in words.
#pragma once

#include <string>

#include "trace/trace.h"

namespace telltale {

// "memory ran out on GPU 0: 2.00 GiB were asked for, and the device had 512 MiB free"; empty when it did not. Where it
// ran out more than once, the last time counts.
std::string out_of_memory_text(const Trace& trace);

}  // namespace telltale
