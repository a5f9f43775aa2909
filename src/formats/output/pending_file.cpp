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
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) return failure("is a folder; name a file in it", path);
  if (fs::exists(status) && !fs::is_regular_file(status)) return PendingFile(path, path);
  if (fs::exists(status) && existing == Existing::kRefuse)
    return failure("is there already; --force overwrites it", path);

  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string temporary = target.string();
    temporary.append(".part-").append(std::to_string(::getpid())).append(".").append(std::to_string(attempt));
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return PendingFile(std::move(temporary), target.string());
    }
    if (errno != EEXIST) return failure(reason(errno), path);
  }
  return failure("cannot be written: there are too many unfinished files beside it", path);
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : temporary_path_(std::move(other.temporary_path_)),
      final_path_(std::move(other.final_path_)),
      is_pending_(std::exchange(other.is_pending_, false)) {}

PendingFile::~PendingFile() {
  if (is_pending_ && !is_direct()) ::unlink(temporary_path_.c_str());
}

Result<void> PendingFile::commit() {
  if (!is_direct() && ::rename(temporary_path_.c_str(), final_path_.c_str()) != 0)
    return failure(reason(errno), final_path_);
  is_pending_ = false;
  return {};
}

}  // namespace telltale
