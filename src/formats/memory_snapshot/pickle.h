// Reads a pickle, of any protocol up to 5, as data.
//
// Nothing that a pickle names is imported, called or built, with two exceptions that stand for plain data: an empty
// collections.OrderedDict is a dict, and _codecs.encode with "latin1" is how old protocols spell bytes. A pickle that
// asks for anything else is refused by name. Nesting costs memory, not stack.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/memory_snapshot/byte_cursor.h"
#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

// Whether a file that starts like this may be one of protocol 2 or later, which have a mark.
bool is_pickle(std::string_view first_bytes);

// `path` is what errors call the file.
Result<Document> read_pickle(ByteCursor& cursor, const std::string& path, const DocumentLimits& limits = {});

}  // namespace telltale::memory_snapshot
