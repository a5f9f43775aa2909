// Reads what PyTorch's Kineto writes, and any other trace in Chrome's JSON format.
#pragma once

#include <string>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "formats/input/text_input.h"
#include "trace/trace.h"

namespace telltale::kineto {

// `path` is for messages. The result does not depend on the number of threads.
Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options);

}  // namespace telltale::kineto
