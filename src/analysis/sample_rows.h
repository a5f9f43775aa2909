// How many samples a layer gets and how long they are, from the shape of its input.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.h"

namespace telltale {

// Of an operator that is a layer with rows of samples; 1 for a sample without a dimension for rows. Nothing for other
// events, and where no shapes were recorded.
std::optional<std::int64_t> sample_rows(const Trace& trace, EventId event);

// Of a layer whose samples are sequences: how many tokens each has. Nothing for all others.
std::optional<std::int64_t> sequence_length(const Trace& trace, EventId event);

}  // namespace telltale
