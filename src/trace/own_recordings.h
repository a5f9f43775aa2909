// What our own recorder says of a recording of PyTorch in its header (python/telltale/_capture): names of values in
// Trace::metadata.
#pragma once

#include <string_view>

namespace telltale {

// There, when the recording began with the program, so that what precedes the first step was recorded, and the first
// steps warm up.
inline constexpr std::string_view kFromStart = "telltale_from_start";

// What it was asked to record, as a JSON object.
inline constexpr std::string_view kAskedFor = "recorded";

}  // namespace telltale
