#include "record/file_access.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace telltale::record {
namespace {

constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOCTTY;
constexpr mode_t kMode = 0644;

// The one file that is open, as it was when it was opened: a host that closes all descriptors, as daemons do, may get
// the same number for a file of its own.
struct Identity {
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;
};
constinit Identity opened;

int with_lock(int file) {
  if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 0;
  return EBUSY;
}

int create(const char* path, int* file) {
  *file = ::open(path, kFlags | O_CREAT | O_EXCL, kMode);
  return *file < 0 ? errno : with_lock(*file);
}

// Readers of the old file keep it: the new one gets the name, not the bytes. What is no file, such as /dev/null, is
// used as it is.
int replace(const char* path, int* file) {
  *file = ::open(path, kFlags);
  if (*file < 0) return errno;
  struct stat status{};
  if (fstat(*file, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return 0;
  if (const int error = with_lock(*file); error != 0) return error;
  if (unlink(path) != 0) return ftruncate(*file, 0) == 0 ? 0 : errno;
  ::close(*file);
  return create(path, file);
}

int open_file(const char* path, int* file) {
  int error = create(path, file);
  if (error == EEXIST) error = replace(path, file);
  struct stat status{};
  if (error == 0 && fstat(*file, &status) != 0) error = errno;
  if (error != 0) {
    if (*file >= 0) ::close(*file);
    *file = -1;
    return error;
  }
  opened = {*file, status.st_dev, status.st_ino};
  return 0;
}

int write_file(int file, const void* bytes, std::size_t size, std::uint64_t offset) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = pwrite(file, at, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    at += written;
    size -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

int truncate_file(int file, std::uint64_t size) { return ftruncate(file, static_cast<off_t>(size)) == 0 ? 0 : errno; }

int check_file(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) return errno;
  if (file != opened.file || status.st_dev != opened.device || status.st_ino != opened.inode) return EBADF;
  return status.st_nlink == 0 ? ESTALE : 0;
}

void close_file(int file) {
  if (check_file(file) != EBADF) ::close(file);
}

void remove_file(const char* path) { unlink(path); }

}  // namespace

constinit const FileAccess kSystemFiles = {open_file, write_file, truncate_file, check_file, close_file, remove_file};
constinit const FileAccess* file_access = &kSystemFiles;

}  // namespace telltale::record
