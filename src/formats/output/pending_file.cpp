#include "formats/output/pending_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace telltale {
namespace fs = std::filesystem;
namespace {

constexpr int kMostAttempts = 1000;
constexpr int kMostLinks = 40;  // as the kernel has it

std::string reason(int error) {
  switch (error) {
    case ENOENT:
      return "cannot be written: its folder does not exist";
    case ENOTDIR:
      return "cannot be written: a part of its path is no folder";
    default:
      return std::string("cannot be written: ") + std::strerror(error);
  }
}

mode_t mode_for(PendingFile::Readers readers) { return readers == PendingFile::Readers::kAll ? 0666 : 0600; }

bool is_trusted(const struct stat& status) { return status.st_uid == geteuid() || status.st_uid == 0; }

// Where the links at a path lead. Renaming would replace a link instead of the file.
Result<fs::path> followed(const std::string& path) {
  fs::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    struct stat status{};
    if (lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return target;
    if (!is_trusted(status)) return failure("is a link of another user; name the file that it leads to", path);
    std::error_code error;
    target = target.parent_path() / fs::read_symlink(target, error);
    if (error) return failure("cannot be written: " + error.message(), path);
  }
  return failure(reason(ELOOP), path);
}

}  // namespace

Result<PendingFile> PendingFile::reserve(const std::string& path, Existing existing, Readers readers) {
  const auto target = followed(path);
  if (!target) return std::unexpected(target.error());
  PendingFile file(target->string(), existing);
  struct stat status{};
  // The path itself: where it leads through /dev/fd to a pipe, no name tells that.
  const bool is_there = stat(path.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) return failure("is a folder; name a file in it", path);
  if (is_there && !S_ISREG(status.st_mode)) {
    if (const auto opened = file.open_directly(path); !opened) return std::unexpected(opened.error());
    return file;
  }
  if (is_there && existing == Existing::kRefuse) return failure("is there already; --force overwrites it", path);
  if (file.open_nameless(mode_for(readers))) return file;
  if (const auto opened = file.open_named(mode_for(readers)); !opened)
    return std::unexpected(Error{opened.error().message, path, {}});
  return file;
}

// A pipe that another user has put in the way would get what was meant for a file.
Result<void> PendingFile::open_directly(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) && !is_trusted(status))
    return failure("is a pipe of another user; choose another name", path);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return failure(reason(errno), path);
  if (S_ISREG(status.st_mode)) return failure("has become a file meanwhile; try again", path);
  is_direct_ = true;
  return {};
}

bool PendingFile::open_nameless(mode_t mode) {
  const fs::path folder = fs::path(final_path_).parent_path();
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor_ < 0) return false;
  // It gets its name by this path.
  if (::access(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), W_OK) == 0) return true;
  ::close(std::exchange(descriptor_, -1));
  return false;
}

std::string PendingFile::name_beside(int attempt) const {
  std::string name = final_path_;
  return name.append(".part-").append(std::to_string(::getpid())).append(".").append(std::to_string(attempt));
}

Result<void> PendingFile::open_named(mode_t mode) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::string name = name_beside(attempt);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0) {
      temporary_name_ = name;
      return {};
    }
    if (errno != EEXIST) return failure(reason(errno));
  }
  return failure("cannot be written: there are too many unfinished files beside it");
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : final_path_(std::move(other.final_path_)),
      existing_(other.existing_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_direct_(other.is_direct_),
      temporary_name_(std::exchange(other.temporary_name_, {})) {}

PendingFile::~PendingFile() {
  if (!temporary_name_.empty()) ::unlink(temporary_name_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool PendingFile::link_as(const std::string& name) const {
  const std::string from = temporary_name_.empty() ? "/proc/self/fd/" + std::to_string(descriptor_) : temporary_name_;
  return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// A name can be given to a file only where there is none: to replace one, it gets another name first.
Result<void> PendingFile::name_for_renaming() {
  errno = EEXIST;
  for (int attempt = 0; errno == EEXIST && attempt < kMostAttempts; ++attempt) {
    const std::string name = name_beside(attempt);
    if (!link_as(name)) continue;
    temporary_name_ = name;
    return {};
  }
  return failure(reason(errno), final_path_);
}

Result<void> PendingFile::commit() {
  if (is_direct_ || link_as(final_path_)) return {};
  // Some file systems have no second names.
  const bool can_link = errno != EPERM && errno != ENOTSUP;
  if (can_link && errno != EEXIST) return failure(reason(errno), final_path_);
  if (can_link && existing_ == Existing::kRefuse)
    return failure("is there already; --force overwrites it", final_path_);
  if (temporary_name_.empty()) {
    if (const auto named = name_for_renaming(); !named) return named;
  }
  if (::rename(temporary_name_.c_str(), final_path_.c_str()) != 0) return failure(reason(errno), final_path_);
  temporary_name_.clear();
  return {};
}

}  // namespace telltale
