// A file that bears its name only once it is complete: it is written under another name beside it, and renamed.
#pragma once

#include <string>

#include "base/error.h"

namespace telltale {

// Move-only. Removes what was written so far when it goes without commit().
class PendingFile {
 public:
  enum class Existing : bool { kRefuse, kReplace };

  // A path that is no regular file, such as /dev/null or a pipe, is written directly.
  static Result<PendingFile> reserve(const std::string& path, Existing existing);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  // Where to write.
  const std::string& path() const { return temporary_path_; }
  // Gives the file its name. Only after everything is written and closed.
  Result<void> commit();

 private:
  PendingFile(std::string temporary_path, std::string final_path)
      : temporary_path_(std::move(temporary_path)), final_path_(std::move(final_path)) {}
  bool is_direct() const { return temporary_path_ == final_path_; }

  std::string temporary_path_, final_path_;
  bool is_pending_ = true;
};

}  // namespace telltale
