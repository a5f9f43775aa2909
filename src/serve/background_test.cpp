#include "serve/background.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace telltale::serve {
namespace {

int niceness() { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); }

TEST(Background, gives_way_with_the_threads_that_it_starts_and_no_others) {
  const int before = niceness();
  int own = 0, started = 0;
  std::thread([&] {
    give_way();
    own = niceness();
    std::thread([&] { started = niceness(); }).join();
  }).join();
  EXPECT_EQ(own, std::min(before + 5, 19));
  EXPECT_EQ(started, own);
  EXPECT_EQ(niceness(), before);
}

// A sanitizer's allocator keeps what was freed, to find out who still uses it.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Background, gives_back_what_was_freed_between_what_is_in_use) {
  constexpr std::size_t kBlock = 64 << 10, kBlocks = 1000;
  std::vector<std::unique_ptr<std::vector<char>>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(std::make_unique<std::vector<char>>(kBlock, 'x'));
  for (std::size_t i = 0; i + 1 < kBlocks; ++i) blocks[i].reset();  // the last one keeps the heap from shrinking
  const std::size_t before = resident_bytes();
  give_back_memory();
  EXPECT_LT(resident_bytes() + kBlock * kBlocks / 2, before);
  EXPECT_EQ(blocks.back()->back(), 'x');
}

// By how much the process grows while another thread makes and drops blocks of 60 MB in all, and goes on.
std::size_t kept_of_a_threads_heap() {
  std::size_t grown = 0;
  std::thread([&grown] {
    const auto first = std::make_unique<char[]>(1000);
    const std::size_t before = resident_bytes();
    std::vector<std::vector<char>> blocks;
    for (int i = 0; i < 1000; ++i) blocks.emplace_back(60 << 10, 'x');
    blocks.clear();
    give_back_memory();
    const std::size_t after = resident_bytes();
    grown = after > before ? after - before : 0;
  }).join();
  return grown;
}

TEST(Background, keeps_little_of_what_threads_freed) {
  // As reading does: a large block that is freed lets every heap keep twice as much.
  std::vector<char>(30 << 20, 'x').clear();
  keep_little_of_what_is_freed();
  EXPECT_LT(kept_of_a_threads_heap(), 20U << 20);
}
#endif

}  // namespace
}  // namespace telltale::serve
