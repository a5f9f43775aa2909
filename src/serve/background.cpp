#include "serve/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace telltale::serve {

void give_way() {
  constexpr int kNicer = 5;  // each step takes a fifth of a thread's share: 335 parts of 1024 are left
  // On Linux niceness belongs to threads, by their number.
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kNicer);
}

void keep_little_of_what_is_freed() {
#ifdef __GLIBC__
  // Below that, to ask the system for it again would take longer than it is worth.
  constexpr int kKept = 4 << 20;
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace telltale::serve
