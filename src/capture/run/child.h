// The command that is recorded: started with our terminal, input and output, ended when it ends, and told of the
// signals that only we got.
//
// While a Child lives, signals wait in signals() and do not interrupt us: those from the terminal have reached the
// command as well, since it is in our process group. Make it before there are threads.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace telltale::capture {

// Takes the signals that would end us while a command, or another process, is being recorded; as they were afterwards.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  int descriptor() const { return descriptor_; }
  // The next signal; absent when none waits. `came_from_terminal`: the whole foreground group got it.
  struct Arrival {
    int number = 0;
    bool came_from_terminal = false;
  };
  std::optional<Arrival> next() const;
  const sigset_t& mask_before() const { return mask_before_; }

 private:
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

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

}  // namespace telltale::capture
