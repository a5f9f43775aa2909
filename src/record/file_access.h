// The recorder's way to the file system: one seam, at which tests can make it fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::record {

// A file that only this recording writes. Functions return 0 or an errno.
struct FileAccess {
  // Creates `path`, for this user alone, in place of a file that is there and that nobody records into. ELOOP where it
  // is a symbolic link. `file` is for the other functions.
  int (*open)(const char* path, int* file);
  int (*write)(int file, const void* bytes, std::size_t size, std::uint64_t offset);
  int (*truncate)(int file, std::uint64_t size);
  // ESTALE when the file has been deleted, EBADF when the descriptor is no longer the file we opened.
  int (*check)(int file);
  void (*close)(int file);
  // Closes it in a forked child, and leaves it to the parent.
  void (*leave)(int file);
  // Takes the name from the file that is open; not from another one that has got it since.
  void (*remove)(const char* path);
};

extern const FileAccess kSystemFiles;

// What the recorder uses; kSystemFiles unless a test says otherwise.
extern const FileAccess* file_access;

}  // namespace telltale::record
