// Reads a .tell file, whether a recorder wrote it, is writing it, or was killed while it did; see docs/formats/tell.md.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "formats/input/text_input.h"
#include "trace/trace.h"

namespace telltale::tell {

// Whether a file that starts like this is one; eight bytes are enough to tell.
bool is_tell(std::string_view first_bytes);

// `path` is what errors call the file.
Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options);

}  // namespace telltale::tell
