#include "nvtx_ranges.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

namespace telltale::capture {
namespace {

// ---- Ranges of a thread ----

struct OpenRange {
  const NvtxDomain* domain = nullptr;
  telltale_scope scope = {};
};

// Of more, only the number is known. Without a destructor: threads end in any order with libraries.
struct OpenRanges {
  std::array<OpenRange, 128> kept;
  std::uint32_t count = 0;
  std::uint32_t beyond = 0;
};
thread_local OpenRanges open_ranges;

// ---- Ranges between threads ----

// A program that never ends its ranges costs no more than this.
constexpr std::size_t kMostOpen = std::size_t{1} << 16;

class FreeRanges {
 public:
  nvtxRangeId_t add(telltale_site* site) {
    const std::unique_lock held(mutex_, kPatience);
    if (!held) return 0;
    const nvtxRangeId_t id = ++last_;
    if (sites_.size() < kMostOpen) sites_[id] = site;
    return id;
  }
  telltale_site* remove(nvtxRangeId_t id) {
    const std::unique_lock held(mutex_, kPatience);
    if (!held) return nullptr;
    const auto found = sites_.find(id);
    if (found == sites_.end()) return nullptr;
    telltale_site* const site = found->second;
    sites_.erase(found);
    return site;
  }

 private:
  std::timed_mutex mutex_;
  nvtxRangeId_t last_ = 0;
  std::unordered_map<nvtxRangeId_t, telltale_site*> sites_;
};

FreeRanges& free_ranges() {
  static auto* const ranges = new FreeRanges;
  return *ranges;
}

// ---- Names of threads ----

constexpr std::size_t kMostNames = 4096;
std::atomic<std::size_t> names_to_give = 0;

struct NamesToGive {
  std::timed_mutex mutex;
  std::unordered_map<std::uint32_t, std::string> by_thread;
};
NamesToGive& names() {
  static auto* const all = new NamesToGive;
  return *all;
}

std::uint32_t this_thread() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

void take_name() {
  if (names_to_give.load(std::memory_order_relaxed) == 0) return;
  const std::unique_lock held(names().mutex, kPatience);
  if (!held) return;
  const auto found = names().by_thread.find(this_thread());
  if (found == names().by_thread.end()) return;
  telltale_name_thread(found->second.c_str());
  names().by_thread.erase(found);
  names_to_give.store(names().by_thread.size(), std::memory_order_relaxed);
}

}  // namespace

int push_range(const NvtxDomain& domain, telltale_site* (*site)(const NvtxDomain&, const void*), const void* message) {
  OpenRanges& ranges = open_ranges;
  take_name();
  if (ranges.count == ranges.kept.size()) {
    ++ranges.beyond;
    return static_cast<int>(ranges.kept.size());
  }
  int level = 0;
  for (std::uint32_t i = 0; i < ranges.count; ++i) level += ranges.kept[i].domain == &domain ? 1 : 0;
  OpenRange& range = ranges.kept[ranges.count++];
  range.domain = &domain;
  range.scope = {};
  if (telltale_is_recording()) range.scope = telltale_begin(site(domain, message));
  return level;
}

int pop_range(const NvtxDomain& domain) {
  OpenRanges& ranges = open_ranges;
  if (ranges.beyond > 0) {
    --ranges.beyond;
    return static_cast<int>(ranges.kept.size());
  }
  // Mostly the last; ranges of two domains may overlap.
  std::uint32_t at = ranges.count;
  while (at > 0 && ranges.kept[at - 1].domain != &domain) --at;
  if (at == 0) return NVTX_NO_PUSH_POP_TRACKING;
  const telltale_scope scope = ranges.kept[at - 1].scope;
  for (std::uint32_t i = at; i < ranges.count; ++i) ranges.kept[i - 1] = ranges.kept[i];
  --ranges.count;
  int level = 0;
  for (std::uint32_t i = 0; i + 1 < at; ++i) level += ranges.kept[i].domain == &domain ? 1 : 0;
  telltale_end(&scope);
  return level;
}

nvtxRangeId_t start_range(telltale_site* site) {
  const nvtxRangeId_t id = free_ranges().add(site);
  if (id == 0) return 0;
  telltale_async_begin(site, id, nullptr);
  return id;
}

void end_range(nvtxRangeId_t id) {
  if (telltale_site* const site = free_ranges().remove(id)) telltale_async_end(site, id);
}

void name_thread(std::uint32_t number, const char* name) {
  if (name == nullptr) return;
  if (number == this_thread()) return telltale_name_thread(name);
  const std::unique_lock held(names().mutex, kPatience);
  if (!held) return;
  if (names().by_thread.size() < kMostNames) names().by_thread[number] = name;
  names_to_give.store(names().by_thread.size(), std::memory_order_relaxed);
}

}  // namespace telltale::capture
