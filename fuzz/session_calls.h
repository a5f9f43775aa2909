// Calls of the recorder's API, compared one by one with what a simple model says of them, and so are the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace telltale::fuzzing {

// Any bytes are some calls. Ends the process when something is not as the model says.
void run_session_calls(std::span<const std::uint8_t> bytes);

}  // namespace telltale::fuzzing
