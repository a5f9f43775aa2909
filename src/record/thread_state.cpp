#include "record/thread_state.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/pages.h"

namespace telltale::record {

constinit thread_local ThreadState* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr std::size_t kPage = 4096;

constinit bool has_membarrier = false;
constinit unsigned char* barrier_page = nullptr;

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

void prepare_barrier() {
  has_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  if (!has_membarrier && barrier_page == nullptr) barrier_page = static_cast<unsigned char*>(map_pages(kPage));
}

void barrier_on_all_threads() {
  if (has_membarrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  // Where the call is forbidden: taking a right away from a page that was written makes the kernel interrupt all
  // processors that run this process.
  if (barrier_page == nullptr) return;
  mprotect(barrier_page, kPage, PROT_READ | PROT_WRITE);
  *barrier_page = 1;
  mprotect(barrier_page, kPage, PROT_READ);
}

}  // namespace telltale::record
