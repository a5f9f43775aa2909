#include "record/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace telltale::record {

constinit bool uses_tsc = false;

namespace {

constinit Calibration first_calibration;

#if defined(__x86_64__)
bool is_tsc_invariant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantBit = 1u << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
}

// The kernel checks the counters of all cores against one another, and uses another clock when they disagree.
bool does_kernel_trust_tsc() {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[16] = {};
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  return size <= 0 || strncmp(text, "tsc", 3) == 0 || strncmp(text, "kvm-clock", 9) == 0 ||
         strncmp(text, "hyperv", 6) == 0;
}
#endif

}  // namespace

void choose_clock() {
#if defined(__x86_64__)
  uses_tsc = is_tsc_invariant() && does_kernel_trust_tsc();
#endif
  first_calibration = calibrate();
}

std::int64_t ticks_per_second() {
  constexpr std::int64_t kSecond = 1'000'000'000, kLongEnoughNs = 1'000'000;
  if (!uses_tsc) return kSecond;
  const std::int64_t elapsed = clock_ns(CLOCK_MONOTONIC) - first_calibration.monotonic_ns;
  if (elapsed < kLongEnoughNs) {
    const timespec rest{0, kLongEnoughNs - elapsed};
    nanosleep(&rest, nullptr);
  }
  const Calibration now = calibrate();
  const auto ticks = static_cast<double>(now.ticks - first_calibration.ticks);
  const auto ns = static_cast<double>(now.monotonic_ns - first_calibration.monotonic_ns);
  return static_cast<std::int64_t>(ticks / ns * static_cast<double>(kSecond));
}

Calibration calibrate() {
  Calibration best;
  std::uint64_t shortest = UINT64_MAX;
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = ticks_now();
    const std::int64_t monotonic = clock_ns(CLOCK_MONOTONIC), realtime = clock_ns(CLOCK_REALTIME);
    const std::uint64_t after = ticks_now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, monotonic, realtime};
  }
  if (!uses_tsc) best.ticks = static_cast<std::uint64_t>(best.monotonic_ns);
  return best;
}

}  // namespace telltale::record
