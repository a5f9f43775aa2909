// Gives a complete file its final name, for its user alone.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "formats/output/pending_file.h"

namespace telltale::capture {

// Across file systems, too. On failure it stays where it is.
Result<void> move_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       PendingFile::Existing existing);

}  // namespace telltale::capture
