#include "capture/run/child.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace telltale::capture {
namespace {

// SIGKILL and SIGSTOP cannot be taken, nor should what tells of a fault of our own.
constexpr std::array kCommandSignals = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGUSR1,
                                        SIGUSR2, SIGALRM, SIGABRT, SIGTSTP, SIGCONT};
constexpr std::size_t kEndingCount = 9;  // of them, in front

sigset_t set_of(std::span<const int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

std::vector<std::string> merged_environment(const std::vector<std::string>& ours) {
  std::vector<std::string> merged = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    bool is_replaced = false;
    for (const std::string& variable : ours) is_replaced = is_replaced || name_of(variable) == name;
    if (!is_replaced) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

StartFailure why_not_started(const std::string& program, int reason) {
  if (reason == ENOENT && program.find('/') == std::string::npos)
    return {fmt::format("there is no command '{}'", program), 127};
  return {fmt::format("cannot start '{}': {}", program, std::strerror(reason)), reason == ENOENT ? 127 : 126};
}

}  // namespace

std::span<const int> ending_signals() { return std::span(kCommandSignals).first(kEndingCount); }
std::span<const int> command_signals() { return kCommandSignals; }

SignalQueue::SignalQueue(std::span<const int> numbers) : taken_(set_of(numbers)) {
  // Inherited as ignored, it would take away what waitpid() tells.
  std::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  descriptor_ = signalfd(-1, &taken_, SFD_NONBLOCK | SFD_CLOEXEC);
}

SignalQueue::~SignalQueue() {
  while (next()) continue;  // what was not looked at was meant for the command
  close(descriptor_);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<SignalQueue::Arrival> SignalQueue::next() const {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return Arrival{{static_cast<int>(info.ssi_signo), static_cast<int>(info.ssi_pid)}, info.ssi_code == SI_KERNEL};
}

std::expected<Child, StartFailure> Child::start(const std::vector<std::string>& command,
                                                const std::vector<std::string>& environment,
                                                const SignalQueue& signals) {
  std::vector<std::string> words = command, variables = merged_environment(environment);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals.mask_before());
  // We ignore it for our own sake.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int reason = posix_spawnp(&pid, words.front().c_str(), nullptr, &attributes, pointers_to(words).data(),
                                  pointers_to(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (reason != 0) return std::unexpected(why_not_started(words.front(), reason));
  return Child(pid);
}

std::optional<Ending> Child::ending() const {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  if (WIFSIGNALED(status)) return Ending{128 + WTERMSIG(status), WTERMSIG(status)};
  if (WIFEXITED(status)) return Ending{WEXITSTATUS(status), 0};
  return std::nullopt;
}

void Child::send(int signal) const { kill(pid_, signal); }

bool Child::is_in_our_group() const { return getpgid(pid_) == getpgrp(); }

void stop_ourselves() {
  const int number = SIGTSTP;
  const sigset_t set = set_of({&number, 1});
  sigset_t before;
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &set, &before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace telltale::capture
