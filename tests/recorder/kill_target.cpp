// A program to be killed: threads that emit numbered events for ever, and note in shared memory how far they are.
//
//   kill_target OUT PROGRESS [flush]
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "kill_progress.h"
#include "telltale/telltale.hpp"

namespace {

void emit_for_ever(telltale::ThreadProgress& progress, std::int64_t thread) {
  for (std::int64_t number = 0;; ++number) {
    {
      TELLTALE_SCOPE("numbered", thread, number);
    }
    progress.emitted.store(number + 1, std::memory_order_release);
    if (number % 8 == 0) {
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
    }
  }
}

// Otherwise the writer does so at times of its own.
void flush_for_ever(telltale::Progress& progress) {
  while (true) {
    std::int64_t emitted[telltale::kKillThreads];
    for (int t = 0; t < telltale::kKillThreads; ++t) emitted[t] = progress.threads[t].emitted.load();
    telltale_flush();
    for (int t = 0; t < telltale::kKillThreads; ++t) progress.threads[t].flushed.store(emitted[t]);
    const timespec pause{0, 3'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int file = open(argv[2], O_RDWR);
  void* pages = mmap(nullptr, sizeof(telltale::Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) return 2;
  auto& progress = *static_cast<telltale::Progress*>(pages);
  const telltale::Session session(argv[1]);
  if (!session.is_recording()) return 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < telltale::kKillThreads; ++t)
    threads.emplace_back([&progress, t] { emit_for_ever(progress.threads[t], t); });
  TELLTALE_SCOPE("the whole run");
  progress.is_running.store(1);
  if (argc > 3) flush_for_ever(progress);
  for (std::thread& thread : threads) thread.join();
}
