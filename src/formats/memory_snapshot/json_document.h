// Reads JSON text as the same data that a pickle holds: json.dumps() of a snapshot.
#pragma once

#include <string>

#include "base/error.h"
#include "formats/memory_snapshot/byte_cursor.h"
#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

// Equal texts are one value, as JSON writes each out every time. Nesting costs memory, not stack. `path` is what errors
// call the file.
Result<Document> read_json(ByteCursor& cursor, const std::string& path, const DocumentLimits& limits = {});

}  // namespace telltale::memory_snapshot
