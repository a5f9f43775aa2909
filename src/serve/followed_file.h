// The file behind a name that is followed while it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace telltale::serve {

// Where the bytes are: the file of that name or, as long as there is none and `telltale record` is still writing it,
// the largest of what stands in the recording's own folder.
std::string file_behind(const std::string& path);

// Whether `telltale record` is at work on a file of that name. It may have nothing to show yet.
bool is_being_recorded(const std::string& path);

// What changes when a file grows or is replaced.
struct FileMark {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileMark&) const = default;
};
std::optional<FileMark> mark_of(const std::string& path);

}  // namespace telltale::serve
