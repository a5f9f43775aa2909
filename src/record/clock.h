// The recorder's clock: the processor's time stamp counter where it runs evenly, else the monotonic clock.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace telltale::record {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Set once, before main().
extern bool uses_tsc;

// Chooses the clock. Before it is called, ticks are those of the monotonic clock.
void choose_clock();

// How fast the clock runs, about. May sleep for a millisecond after choose_clock().
std::int64_t ticks_per_second();

inline std::uint64_t ticks_now() {
#if defined(__x86_64__)
  if (uses_tsc) [[likely]]
    return __rdtsc();
#endif
  return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC));
}

// What the clocks showed at one moment.
struct Calibration {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

// The closest of a few tries, so that an interruption in between does no harm.
Calibration calibrate();

}  // namespace telltale::record
