// Files that another user's process left for us, in a folder that it can change at any time.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace telltale::capture {

// Takes a regular file of `owner`'s into a new file of our own at `to`, whose folder only we write to. False where
// there is none: links are not followed, pipes not waited for, and files of others stay what they are.
bool take_file(const std::filesystem::path& from, uid_t owner, const std::filesystem::path& to);

}  // namespace telltale::capture
