#include "formats/output/pending_file.h"

#include <fcntl.h>
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
constexpr mode_t kReadAndWriteForAll = 0666;  // less what the umask takes away

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

}  // namespace

Result<PendingFile> PendingFile::reserve(const std::string& path, Existing existing) {
  std::error_code ignored;
  // Renaming would replace a symbolic link instead of the file that it leads to.
  fs::path target = path;
  if (fs::is_symlink(path, ignored)) {
    std::error_code error;
    target = fs::weakly_canonical(path, error);
    if (error) return failure("cannot be written: " + error.message(), path);
  }
  PendingFile file(target.string(), existing);
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) return failure("is a folder; name a file in it", path);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file.written_path_ = path;
    return file;
  }
  if (fs::exists(status) && existing == Existing::kRefuse)
    return failure("is there already; --force overwrites it", path);
  if (file.open_nameless()) return file;
  if (const auto opened = file.open_named(); !opened) return std::unexpected(Error{opened.error().message, path, {}});
  return file;
}

bool PendingFile::open_nameless() {
  const fs::path folder = fs::path(final_path_).parent_path();
  nameless_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kReadAndWriteForAll);
  if (nameless_ < 0) return false;
  written_path_ = "/proc/self/fd/" + std::to_string(nameless_);
  if (::access(written_path_.c_str(), W_OK) == 0) return true;
  ::close(std::exchange(nameless_, -1));
  return false;
}

std::string PendingFile::name_beside(int attempt) const {
  std::string name = final_path_;
  return name.append(".part-").append(std::to_string(::getpid())).append(".").append(std::to_string(attempt));
}

Result<void> PendingFile::open_named() {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    written_path_ = name_beside(attempt);
    const int descriptor = ::open(written_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadAndWriteForAll);
    if (descriptor >= 0) {
      ::close(descriptor);
      has_temporary_name_ = true;
      return {};
    }
    if (errno != EEXIST) return failure(reason(errno));
  }
  return failure("cannot be written: there are too many unfinished files beside it");
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : written_path_(std::move(other.written_path_)),
      final_path_(std::move(other.final_path_)),
      existing_(other.existing_),
      nameless_(std::exchange(other.nameless_, -1)),
      has_temporary_name_(std::exchange(other.has_temporary_name_, false)) {}

PendingFile::~PendingFile() {
  if (has_temporary_name_) ::unlink(written_path_.c_str());
  if (nameless_ >= 0) ::close(nameless_);
}

// A name can be given to a file only where there is none: to replace one, it gets another name first.
Result<void> PendingFile::name_it() {
  const auto link = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, written_path_.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(final_path_)) return {};
  if (errno == EEXIST && existing_ == Existing::kRefuse)
    return failure("is there already; --force overwrites it", final_path_);
  for (int attempt = 0; errno == EEXIST && attempt < kMostAttempts; ++attempt) {
    const std::string name = name_beside(attempt);
    if (!link(name)) continue;
    written_path_ = name;
    has_temporary_name_ = true;
    return {};
  }
  return failure(reason(errno), final_path_);
}

Result<void> PendingFile::commit() {
  if (nameless_ >= 0) {
    if (const auto named = name_it(); !named) return named;
  }
  if (has_temporary_name_ && ::rename(written_path_.c_str(), final_path_.c_str()) != 0)
    return failure(reason(errno), final_path_);
  has_temporary_name_ = false;
  return {};
}

}  // namespace telltale
