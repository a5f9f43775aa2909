// Reads what PyTorch's Kineto writes, and any other trace in Chrome's JSON format.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "formats/input/text_input.h"
#include "trace/trace.h"

namespace telltale::kineto {

// Whether a file that starts like this may be one: JSON, an object or a list.
bool is_json(std::string_view first_bytes);

// Trace::format is "kineto" where something in the file is Kineto's own, else "chrome". `path` is for messages. The
// result does not depend on the number of threads.
Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options);

}  // namespace telltale::kineto
