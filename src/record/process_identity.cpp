#include "record/process_identity.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "record/pages.h"

namespace telltale::record {
namespace {

constexpr std::size_t kPage = 4096;
constexpr pid_t kChanging = -1;

constinit std::atomic<pid_t> owner = 0;
// Not 0 in the memory of the owner and of who shares it; the kernel makes it 0 in a copy. Null where it cannot: there,
// whoever has another pid is taken for a copy.
constinit std::atomic<std::uint32_t>* mark = nullptr;

}  // namespace

void prepare_identity() {
  if (owner.load(std::memory_order_relaxed) != 0) return;
  void* page = map_pages(kPage);
  if (page != nullptr && madvise(page, kPage, MADV_WIPEONFORK) == 0)
    mark = static_cast<std::atomic<std::uint32_t>*>(page);
  else
    unmap_pages(page, kPage);
  own();
}

MemoryOf memory_of() {
  if (mark != nullptr && mark->load(std::memory_order_acquire) == 0) return MemoryOf::kParentCopied;
  if (owner.load(std::memory_order_acquire) == getpid()) return MemoryOf::kThisProcess;
  return mark != nullptr ? MemoryOf::kParentShared : MemoryOf::kParentCopied;
}

bool begin_to_own() {
  pid_t parent = owner.load(std::memory_order_acquire);
  return memory_of() == MemoryOf::kParentCopied && parent != kChanging &&
         owner.compare_exchange_strong(parent, kChanging);
}

void own() {
  // In this order, so that no other thread takes it for a copy that nobody owns.
  if (mark != nullptr) mark->store(1, std::memory_order_release);
  owner.store(getpid(), std::memory_order_release);
}

void wait_for_owner() {
  while (owner.load(std::memory_order_acquire) == kChanging) sched_yield();
}

}  // namespace telltale::record
