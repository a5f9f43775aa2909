// Interrupts a function at each of its instructions, the C library's and the kernel's entries included.
//
// The processor is told to raise SIGTRAP after every instruction. One thread at a time; x86-64 only.
#pragma once

#include <cstdint>

namespace telltale {

enum class Interruption : std::uint8_t {
  kFault,   // in the handler of SIGTRAP itself: nobody can put it off
  kSignal,  // in the handler of a signal that arrives there, or once the function no longer blocks it
};

inline constexpr bool can_single_step() {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;  // the thread sanitizer's own functions must not be interrupted so
#endif
}

// Calls `function`, and `interrupt` before each of its instructions. Returns how many there were.
std::uint64_t step_through(void (*function)(), void (*interrupt)(), Interruption how);

// For what is no function of its own: the calling thread is stepped through as in the last call of step_through().
void resume_stepping();
void stop_stepping();

}  // namespace telltale
