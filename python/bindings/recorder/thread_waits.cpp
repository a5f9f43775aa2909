#include "thread_waits.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace telltale::python {
namespace {

std::string_view kind_of_file(long number) {
  char path[64], target[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%ld", number);
  const ssize_t size = readlink(path, target, sizeof target);
  const std::string_view name(target, size < 0 ? 0 : static_cast<std::size_t>(size));
  if (name.starts_with("socket:")) return "socket";
  if (name.starts_with("pipe:")) return "pipe";
  if (name.starts_with("anon_inode:")) return "poll";
  return name.empty() ? "other" : "file";
}

std::string_view kind_of_call(long call, long first_argument) {
  switch (call) {
    case SYS_clock_nanosleep:
    case SYS_nanosleep:
      return "sleep";
    case SYS_futex:
      return "lock";
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_close:
    case SYS_sendfile:
      return kind_of_file(first_argument);
    case SYS_openat:
    case SYS_newfstatat:
    case SYS_getdents64:
    case SYS_unlinkat:
    case SYS_flock:
#ifdef SYS_open
    case SYS_open:
    case SYS_stat:
    case SYS_unlink:
    case SYS_rename:
#endif
      return "file";
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_connect:
    case SYS_accept:
    case SYS_accept4:
      return "socket";
    case SYS_wait4:
    case SYS_waitid:
      return "process";
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
      return "poll";
    default:
      return "other";
  }
}

}  // namespace

std::string_view what_thread_waits_for(std::int64_t native_id) {
  char path[64], text[160];
  std::snprintf(path, sizeof path, "/proc/self/task/%lld/syscall", static_cast<long long>(native_id));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return "";
  text[size] = 0;
  char* rest = nullptr;
  const long call = std::strtol(text, &rest, 10);
  if (rest == text) return "";                                                    // "running"
  return call < 0 ? "file" : kind_of_call(call, std::strtol(rest, nullptr, 16));  // −1: in no call, as for a page fault
}

std::int64_t time_thread_ran(std::int64_t native_id) {
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(native_id) << 3 | 6);  // as the kernel numbers them
  timespec time = {};
  if (clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace telltale::python
