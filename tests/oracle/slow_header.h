// What the values around the event list say of the trace as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "json_pieces.h"
#include "trace/trace.h"

namespace telltale::oracle {

// Fills devices, distributed, recorded and metadata. Returns baseTimeNanoseconds where the file has it.
std::optional<std::int64_t> fill_header(const std::vector<JsonMember>& header, Trace& trace);

}  // namespace telltale::oracle
