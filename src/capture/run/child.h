// The command that is recorded: started with our terminal, input and output, in our process group, and ended when it
// ends.
//
// While a SignalQueue lives, signals wait in it and do not interrupt us; signal_relay.h says which of them the command
// gets from us. Make it before there are threads.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/run/signal_relay.h"

namespace telltale::capture {

// Those that would end us, and SIGCHLD.
std::span<const int> ending_signals();
// Those that a command may be sent, and that could reach us in its place: these, and those that stop and continue it.
std::span<const int> command_signals();

// Takes such signals while a command, or another process, is being recorded; as they were afterwards.
class SignalQueue {
 public:
  explicit SignalQueue(std::span<const int> numbers);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  int descriptor() const { return descriptor_; }
  // The next signal; absent when none waits. `came_from_terminal`: the whole foreground group got it.
  struct Arrival {
    SentSignal signal;
    bool came_from_terminal = false;
  };
  std::optional<Arrival> next() const;
  const sigset_t& taken() const { return taken_; }
  const sigset_t& mask_before() const { return mask_before_; }

 private:
  sigset_t taken_{};
  sigset_t mask_before_{};
  int descriptor_ = -1;
};

// How a command ended.
struct Ending {
  int exit_code = 0;  // 128 and the signal's number when it died of one, as shells have it
  int signal = 0;     // 0: of none
};

// 127 for a command that is not there, 126 for one that cannot be started, as env and nohup have it.
struct StartFailure {
  std::string sentence;
  int exit_code = 127;
};

class Child {
 public:
  // `environment` are NAME=VALUE texts that go before our own variables of these names.
  static std::expected<Child, StartFailure> start(const std::vector<std::string>& command,
                                                  const std::vector<std::string>& environment,
                                                  const SignalQueue& signals);

  pid_t pid() const { return pid_; }
  // Never waits.
  std::optional<Ending> ending() const;
  void send(int signal) const;
  // Whether what is sent to our process group reaches it.
  bool is_in_our_group() const;

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

// As SIGTSTP would have done it without a queue: returns when we are continued.
void stop_ourselves();

}  // namespace telltale::capture
