#include "capture/run/live_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "lock";
constexpr int kMostAttempts = 100;

std::unexpected<Error> why_not_made(const fs::path& path) {
  return failure(std::string("cannot be written: ") + std::strerror(errno), path);
}

// A folder of our own with a lock in it that we hold, under a name that nobody looks for. The lock also keeps it from
// being empty, so that no other folder can be given its name.
Result<std::pair<fs::path, int>> locked_folder(const fs::path& wanted) {
  std::string name = wanted.string() + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return why_not_made(wanted.parent_path());
  const int lock = open((fs::path(name) / kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (lock < 0) {
    rmdir(name.c_str());
    return why_not_made(name);
  }
  flock(lock, LOCK_EX | LOCK_NB);
  return std::pair(fs::path(name), lock);
}

// The lock of a folder that another recording has left; -1 when it is still there, or that cannot be known.
int lock_of_left(const fs::path& folder) {
  const fs::path path = folder / kLock;
  const int lock = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat held{}, there{};
  const bool is_left = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &held) == 0 &&
                       lstat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino;
  if (is_left) return lock;
  if (lock >= 0) close(lock);
  return -1;
}

// A folder goes with its lock, unless there is something else in it: then it keeps both.
bool is_removed(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() != kLock) return false;
  if (error) return false;
  unlink((folder / kLock).c_str());
  return rmdir(folder.c_str()) == 0;
}

// ".run.recording" becomes "run.recording-1". Empty when it cannot be.
fs::path moved_aside(const fs::path& left) {
  for (int number = 1; number <= kMostAttempts; ++number) {
    const fs::path to = left.parent_path() / fmt::format("{}-{}", left.filename().string().substr(1), number);
    struct stat status{};
    if (lstat(to.c_str(), &status) == 0 || rename(left.c_str(), to.c_str()) != 0) continue;
    unlink((to / kLock).c_str());
    return to;
  }
  return {};
}

}  // namespace

Result<std::optional<LiveFolder>> LiveFolder::reserve(const fs::path& folder, const std::string& stem) {
  const fs::path path = folder / fmt::format(".{}.recording", stem);
  const auto made = locked_folder(path);
  if (!made) return std::unexpected(made.error());
  LiveFolder live(made->first, made->second);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (rename(live.path_.c_str(), path.c_str()) == 0) {
      live.path_ = path;
      return live;
    }
    if (errno != ENOTEMPTY && errno != EEXIST) return why_not_made(path);
    const int left = lock_of_left(path);
    if (left < 0) return std::nullopt;
    if (!is_removed(path)) live.put_aside_ = moved_aside(path);
    close(left);
  }
  return std::nullopt;
}

LiveFolder::LiveFolder(LiveFolder&& other) noexcept
    : path_(std::move(other.path_)), put_aside_(std::move(other.put_aside_)), lock_(std::exchange(other.lock_, -1)) {}

LiveFolder::~LiveFolder() {
  if (lock_ < 0) return;
  is_removed(path_);
  close(lock_);
}

}  // namespace telltale::capture
