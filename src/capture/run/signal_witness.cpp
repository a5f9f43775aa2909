#include "capture/run/signal_witness.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace telltale::capture {
namespace {

// Where the words of this process's command line lie, which is what /proc/PID/cmdline shows; empty where it is not
// known.
std::pair<char*, std::size_t> memory_of_command_line() {
  constexpr int kFieldsBefore = 45;  // between the name, the second field of proc(5)'s stat, and arg_start, the 48th
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string skipped;
  for (int i = 0; i < kFieldsBefore; ++i) fields >> skipped;
  std::uintptr_t begin = 0, end = 0;
  if (!(fields >> begin >> end) || begin == 0 || end <= begin) return {};
  return {reinterpret_cast<char*>(begin), end - begin};
}

void show_as(const std::string& title) {
  const auto [memory, size] = memory_of_command_line();
  if (memory == nullptr) return;
  std::memset(memory, 0, size);
  std::memcpy(memory, title.data(), std::min(title.size(), size - 1));
  prctl(PR_SET_NAME, "witness");
}

std::string title_of(const std::vector<std::string>& command) {
  std::string title = "witness:";
  for (const std::string& word : command) title += ' ' + word;
  return title;
}

// Of the file descriptors only that one stays, as the first.
void keep_only(int descriptor) {
  constexpr int kFirst = 0, kUsualLimit = 1024;
  dup2(descriptor, kFirst);
  if (close_range(kFirst + 1, ~0u, 0) == 0) return;
  for (int other = kFirst + 1; other < kUsualLimit; ++other) close(other);
}

[[noreturn]] void watch(const sigset_t& signals, int pipe) {
  keep_only(pipe);
  while (true) {
    siginfo_t info{};
    if (sigwaitinfo(&signals, &info) < 0) continue;
    // What the terminal sent has no sender, and is of no interest.
    if (info.si_code == SI_KERNEL) continue;
    const SentSignal told{info.si_signo, info.si_pid};
    if (write(0, &told, sizeof told) < 0) _exit(0);
  }
}

}  // namespace

SignalWitness::SignalWitness(const sigset_t& signals, const std::vector<std::string>& command) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t us = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != us || chdir("/") != 0) _exit(0);
    show_as(title_of(command));
    watch(signals, ends[1]);
  }
  close(ends[1]);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  if (pid_ < 0) leave_pipe();
}

SignalWitness::~SignalWitness() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  leave_pipe();
}

void SignalWitness::leave_pipe() {
  if (pipe_ >= 0) close(pipe_);
  pipe_ = -1;
}

std::optional<SentSignal> SignalWitness::next() {
  SentSignal told;
  const ssize_t got = pipe_ < 0 ? -1 : read(pipe_, &told, sizeof told);
  if (got == 0) leave_pipe();
  return got == static_cast<ssize_t>(sizeof told) ? std::optional(told) : std::nullopt;
}

}  // namespace telltale::capture
