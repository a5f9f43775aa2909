#include "single_step.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace telltale {

#if defined(__x86_64__)
namespace {

constexpr greg_t kTrapFlag = 0x100;

// One thread of the process is stepped through, and knows that it is by the address of its own copy of a variable.
thread_local char this_thread;
const char* volatile stepped_thread = nullptr;
volatile bool is_stepping = false;
volatile std::uint64_t steps = 0;
void (*interruption)() = nullptr;
Interruption kind = Interruption::kFault;

// The kernel ends a process that blocks SIGTRAP and raises it. Where the next instruction is to block signals, as the C
// library does around the start of a thread, it gets a set without that one.
void keep_traps_allowed(greg_t* registers) {
  static sigset_t allowed;
  constexpr unsigned char kSystemCall[] = {0x0F, 0x05};
  const bool is_call = std::memcmp(reinterpret_cast<void*>(registers[REG_RIP]), kSystemCall, sizeof kSystemCall) == 0;
  if (!is_call || registers[REG_RAX] != SYS_rt_sigprocmask || registers[REG_RSI] == 0) return;
  std::memcpy(&allowed, reinterpret_cast<void*>(registers[REG_RSI]), static_cast<std::size_t>(registers[REG_R10]));
  sigdelset(&allowed, SIGTRAP);
  registers[REG_RSI] = reinterpret_cast<greg_t>(&allowed);
}

void on_trap(int /*signal*/, siginfo_t* /*info*/, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_EFL] &= ~kTrapFlag;
  if (!is_stepping || stepped_thread != &this_thread) return;
  registers[REG_EFL] |= kTrapFlag;
  keep_traps_allowed(registers);
  steps = steps + 1;
  if (kind == Interruption::kFault)
    interruption();
  else
    syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);  // runs when this handler returns
}

void on_signal(int /*signal*/) { interruption(); }

}  // namespace

std::uint64_t step_through(void (*function)(), void (*interrupt)(), Interruption how) {
  struct sigaction trap{}, signal{};
  trap.sa_sigaction = on_trap;
  trap.sa_flags = SA_SIGINFO;
  sigaddset(&trap.sa_mask, SIGUSR1);
  signal.sa_handler = on_signal;
  signal.sa_flags = SA_RESTART;
  sigaction(SIGTRAP, &trap, nullptr);
  sigaction(SIGUSR1, &signal, nullptr);
  interruption = interrupt;
  kind = how;
  steps = 0;
  resume_stepping();
  function();
  stop_stepping();
  return steps;
}

void resume_stepping() {
  stepped_thread = &this_thread;
  is_stepping = true;
  raise(SIGTRAP);
}

void stop_stepping() { is_stepping = false; }

#else

std::uint64_t step_through(void (*function)(), void (* /*interrupt*/)(), Interruption /*how*/) {
  function();
  return 0;
}

void resume_stepping() {}
void stop_stepping() {}

#endif

}  // namespace telltale
