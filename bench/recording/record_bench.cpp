// What the recorder costs, and beside it what nothing can be cheaper than: two clock reads, a call of an empty
// function.
//
//   record_bench FOLDER     prints JSON; files go to FOLDER and are deleted
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "telltale/telltale.hpp"

namespace {

constexpr long kCalls = 400'000;  // fewer than the default memory holds, so that no writer disturbs a short burst
constexpr int kRounds = 15;
constexpr double kNs = 1e-9;

std::string folder;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNs;
}

[[gnu::noinline]] void empty() { asm volatile(""); }

[[gnu::noinline]] void call_empty(long calls) {
  for (long i = 0; i < calls; ++i) empty();
}

[[gnu::noinline]] void read_tsc_twice(long calls) {
  for (long i = 0; i < calls; ++i) {
    const std::uint64_t start = __rdtsc();
    const std::uint64_t end = __rdtsc();
    asm volatile("" ::"r"(start), "r"(end));
  }
}

[[gnu::noinline]] void read_clock_twice(long calls) {
  timespec start{}, end{};
  for (long i = 0; i < calls; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &start);
    clock_gettime(CLOCK_MONOTONIC, &end);
    asm volatile("" ::"r"(&start), "r"(&end) : "memory");
  }
}

[[gnu::noinline]] void plain_scopes(long calls) {
  for (long i = 0; i < calls; ++i) {
    TELLTALE_SCOPE("plain");
  }
}

[[gnu::noinline]] void scopes_with_values(long calls) {
  for (long i = 0; i < calls; ++i) {
    const double loss = static_cast<double>(i);
    const int batch = 8;
    TELLTALE_SCOPE("valued", i, loss, batch);
  }
}

// Nanoseconds a call, the best of some rounds with pauses in which the writer catches up.
double best_ns(void (*work)(long)) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    work(kCalls);
    best = std::min(best, (now() - start) / kCalls / kNs);
    if (telltale_is_recording()) telltale_flush();
  }
  return best;
}

telltale::Options options(const char* name) {
  static std::string path;
  path = folder + "/" + name;
  return telltale::Options(path.c_str());
}

// Two threads at once against one: how much more they emit in the same time. Where all cores are busy emitting, a
// writer that works meanwhile takes its share of them; a flight recorder's does not, so that what threads cost one
// another shows.
double scaling(double flight_seconds) {
  telltale::Options given = options("scaling.tell");
  given.flight_seconds = flight_seconds;
  telltale_start(&given);
  const auto rate = [](int threads) {
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::atomic<int> ready = 0;
      std::vector<double> took(static_cast<std::size_t>(threads));
      std::vector<std::thread> running;
      for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
          plain_scopes(1000);
          ++ready;
          while (ready < threads) {
          }
          const double start = now();
          plain_scopes(kCalls / 2);
          took[static_cast<std::size_t>(t)] = now() - start;
        });
      }
      for (std::thread& thread : running) thread.join();
      best = std::max(best, threads / *std::max_element(took.begin(), took.end()));
      telltale_flush();
    }
    return best;
  };
  const double one = rate(1);
  const double two = rate(2);
  telltale_stop();
  std::filesystem::remove(given.path);
  return two / one;
}

struct Sustained {
  double events_per_second, writer_ns, bytes_per_event, peak_mb, stop_ms;
  unsigned long long dropped;
};

// As fast as it goes for so many events, with the writer on the other core; the time includes the end.
Sustained sustain(long events) {
  telltale::Options given = options("sustained.tell");
  given.policy = TELLTALE_POLICY_BLOCK;
  telltale_start(&given);
  const double start = now();
  plain_scopes(events);
  const double stopping = now();
  telltale_stop();
  const double end = now();
  const telltale_statistics stats = telltale::statistics();
  std::filesystem::remove(given.path);
  const auto recorded = static_cast<double>(stats.recorded);
  return {recorded / (end - start),
          static_cast<double>(stats.writer_cpu_ns) / recorded,
          static_cast<double>(stats.bytes_written) / recorded,
          static_cast<double>(stats.peak_memory) * 1e-6,
          (end - stopping) * 1e3,
          static_cast<unsigned long long>(stats.dropped)};
}

// The processor time of a writer that has nothing to do, a second.
double idle_writer_ms() {
  const telltale::Options given = options("idle.tell");
  telltale_start(&given);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  telltale_stop();
  std::filesystem::remove(given.path);
  return static_cast<double>(telltale::statistics().writer_cpu_ns) * 1e-6;
}

}  // namespace

int main(int /*argc*/, char** argv) {
  folder = argv[1];
  const double call = best_ns(call_empty);
  const double tsc = best_ns(read_tsc_twice);
  const double clock = best_ns(read_clock_twice);
  const double disabled = best_ns(plain_scopes);
  const double disabled_with_values = best_ns(scopes_with_values);
  const telltale::Options given = options("cost.tell");
  if (telltale_start(&given) != TELLTALE_STATUS_OK) {
    std::fprintf(stderr, "record_bench: %s\n", telltale_error_text());
    return 1;
  }
  const double plain = best_ns(plain_scopes);
  const double valued = best_ns(scopes_with_values);
  telltale_stop();
  std::filesystem::remove(given.path);
  const double two_threads = scaling(1), two_threads_and_writer = scaling(0);
  const Sustained few = sustain(5'000'000), many = sustain(100'000'000);
  std::printf(
      "{\"call_ns\": %.3f, \"tsc_twice_ns\": %.3f, \"clock_twice_ns\": %.3f, \"disabled_ns\": %.3f, "
      "\"disabled_with_values_ns\": %.3f, \"scope_ns\": %.3f, \"scope_with_values_ns\": %.3f, \"scaling\": %.3f, "
      "\"scaling_while_written\": %.3f, "
      "\"events_per_second\": %.0f, \"dropped\": %llu, \"writer_ns\": %.2f, \"bytes_per_event\": %.3f, \"peak_mb\": "
      "%.2f, "
      "\"stop_ms\": %.3f, \"stop_short_ms\": %.3f, \"idle_writer_ms\": %.3f}\n",
      call, tsc, clock, disabled, disabled_with_values, plain, valued, two_threads, two_threads_and_writer,
      many.events_per_second, many.dropped, many.writer_ns, many.bytes_per_event, many.peak_mb, many.stop_ms,
      few.stop_ms, idle_writer_ms());
}
