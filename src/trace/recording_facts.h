// What a recording says of itself: on which devices it was made, among which ranks, what was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

// Values about the whole recording, by their names, each as compact JSON; in the order of the file.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

// Fills devices, distributed and recorded from the values by which torch's users and recorders tell them:
// deviceProperties, distributedInfo, record_shapes, with_stack, profile_memory, with_modules, with_flops and our own
// sampled_stacks. The rest, and what cannot be understood, becomes Trace::metadata.
void take_recording_facts(NamedValues values, Trace& trace);

// The integer that a JSON value is, also when it is written as text.
std::optional<std::int64_t> integer_in(std::string_view json_text);

// A whole number that the recording says of its session: "processors", "torch_threads".
std::optional<double> session_number(const Trace& trace, std::string_view name);

}  // namespace telltale
