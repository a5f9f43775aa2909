// A file that bears its name only once it is complete. Until then it has none at all where the file system can do that,
// so that nothing is left of it whatever happens to this process; elsewhere it has another name beside its own.
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
  const std::string& path() const { return written_path_; }
  // Gives the file its name. Only after everything is written and closed.
  Result<void> commit();

 private:
  PendingFile(std::string final_path, Existing existing) : final_path_(std::move(final_path)), existing_(existing) {}
  bool open_nameless();
  Result<void> open_named();
  Result<void> name_it();
  // A name beside the final one that nobody uses.
  std::string name_beside(int attempt) const;

  std::string written_path_, final_path_;
  Existing existing_;
  int nameless_ = -1;                // the descriptor that keeps a file without a name alive
  bool has_temporary_name_ = false;  // which is written_path_
};

}  // namespace telltale
