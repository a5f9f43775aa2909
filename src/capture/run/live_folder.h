// The folder in which processes write while they are recorded: ".run.recording" beside run.tell.
//
// It is also what reserves the name. Nobody but this recording writes to it, so that what is in it in the end is this
// recording's, however many others go on beside it, in other containers too. A recording that was killed leaves it; the
// next one of the same name puts it aside, where it can be seen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace telltale::capture {

// Move-only. Goes with all of it that is empty.
class LiveFolder {
 public:
  // Absent when another recording has the name. `stem` is what the files in it begin with.
  static Result<std::optional<LiveFolder>> reserve(const std::filesystem::path& folder, const std::string& stem);
  LiveFolder(LiveFolder&& other) noexcept;
  LiveFolder& operator=(LiveFolder&&) = delete;
  ~LiveFolder();

  const std::filesystem::path& path() const { return path_; }
  // Where the files of a recording that was killed are now; empty when there are none.
  const std::filesystem::path& put_aside() const { return put_aside_; }

 private:
  LiveFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_, put_aside_;
  int lock_ = -1;  // of a file in it, for as long as we live
};

}  // namespace telltale::capture
