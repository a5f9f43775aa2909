#include "record/file_access.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace telltale::record {
namespace {

// Never through a symbolic link, and never waiting for whoever holds the other end of a pipe or a lease.
constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
// Recordings hold paths, arguments and names. The umask may take more away.
constexpr mode_t kMode = 0600;
// Others may create and remove the file while we look at it; not that often by chance.
constexpr int kMostAttempts = 16;

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

// The descriptor, or -1 with errno set. Never that of a standard stream which the host has closed: what it prints would
// go into the recording.
int open_above_streams(const char* path, int flags) {
  const int file = ::open(path, flags, kMode);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(file);
  errno = error;
  return above;
}

bool is_at(const char* path, dev_t device, ino_t inode) {
  struct stat status{};
  return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

// EAGAIN when somebody replaced the file before it was locked.
int create(const char* path, int* file) {
  *file = open_above_streams(path, kFlags | O_CREAT | O_EXCL);
  if (*file < 0) return errno;
  struct stat status{};
  int error = fstat(*file, &status) == 0 ? with_lock(*file) : errno;
  if (error == EBUSY || (error == 0 && !is_at(path, status.st_dev, status.st_ino))) error = EAGAIN;
  if (error != 0) ::close(*file);
  return error;
}

// Empties a file whose name cannot be taken from it, as in a folder that we may not write to: only one that is ours and
// has no other name.
int reuse(int file, const struct stat& status, int why_not_removed) {
  if (status.st_uid != geteuid() || status.st_nlink != 1) return why_not_removed;
  return ftruncate(file, 0) == 0 ? 0 : errno;
}

// Readers of the old file keep it: the new one gets the name, not the bytes. The old one stays locked until the new one
// is, so that of several who replace it one succeeds. What is no file, such as /dev/null, is used as it is.
// EEXIST, ENOENT or EAGAIN when somebody was faster.
int replace(const char* path, int* file) {
  const int old = open_above_streams(path, kFlags);
  if (old < 0) return errno;
  struct stat status{};
  int error = fstat(old, &status) == 0 ? 0 : errno;
  bool is_used = error == 0 && !S_ISREG(status.st_mode);
  if (error == 0 && !is_used) {
    error = with_lock(old);
    if (error == 0 && !is_at(path, status.st_dev, status.st_ino)) error = EAGAIN;
    if (error == 0 && unlink(path) == 0) {
      error = create(path, file);
    } else if (error == 0) {
      error = reuse(old, status, errno);
      is_used = error == 0;
    }
  }
  if (is_used)
    *file = old;
  else
    ::close(old);
  return error;
}

int create_or_replace(const char* path, int* file) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    int error = create(path, file);
    if (error == EAGAIN) continue;
    if (error != EEXIST) return error;
    error = replace(path, file);
    if (error != EEXIST && error != ENOENT && error != EAGAIN) return error;
  }
  return EBUSY;
}

int open_file(const char* path, int* file) {
  struct stat status{};
  int error = create_or_replace(path, file);
  if (error == 0 && fstat(*file, &status) != 0) {
    error = errno;
    ::close(*file);
  }
  if (error != 0) {
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

void leave_file(int file) {
  if (check_file(file) != EBADF) ::close(file);
}

// A process that was forked without notice has the file open, too, and would keep it locked.
void close_file(int file) {
  if (check_file(file) == EBADF) return;
  flock(file, LOCK_UN);
  ::close(file);
}

void remove_file(const char* path) {
  if (is_at(path, opened.device, opened.inode)) unlink(path);
}

}  // namespace

constinit const FileAccess kSystemFiles = {open_file,  write_file, truncate_file, check_file,
                                           close_file, leave_file, remove_file};
constinit const FileAccess* file_access = &kSystemFiles;

}  // namespace telltale::record
