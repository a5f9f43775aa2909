// A file that bears its name only once it is complete. Until then it has none at all where the file system can do that,
// so that nothing is left of it whatever happens to this process; elsewhere it has another name beside its own.
//
// What stands at its path meanwhile is never opened, so that nobody can make us write elsewhere: links are followed
// first, and only those of this user and of root.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace telltale {

// Move-only. Removes what was written so far when it goes without commit().
class PendingFile {
 public:
  enum class Existing : bool { kRefuse, kReplace };
  // Who may read it, as far as the umask lets them: traces tell paths, arguments and names, pages are made to be shown.
  enum class Readers : bool { kUser, kAll };

  // A path that is no regular file, such as /dev/null or a pipe, is written directly.
  static Result<PendingFile> reserve(const std::string& path, Existing existing, Readers readers = Readers::kUser);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  // To write to.
  int descriptor() const { return descriptor_; }
  // Gives the file its name. Only after everything is written.
  Result<void> commit();

 private:
  PendingFile(std::string final_path, Existing existing) : final_path_(std::move(final_path)), existing_(existing) {}
  Result<void> open_directly(const std::string& path);
  bool open_nameless(mode_t mode);
  Result<void> open_named(mode_t mode);
  // Gives it a name where there is none; false, with errno, otherwise.
  bool link_as(const std::string& name) const;
  Result<void> name_for_renaming();
  // A name beside the final one that nobody uses.
  std::string name_beside(int attempt) const;

  std::string final_path_;
  Existing existing_;
  int descriptor_ = -1;
  bool is_direct_ = false;      // needs no name
  std::string temporary_name_;  // empty while it has none
};

}  // namespace telltale
