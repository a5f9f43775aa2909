// A process of ours beside the command, in our process group, that gets what is sent to the group and tells us of it.
//
// It does nothing else: it has no file open but the pipe to us, and goes when we do. To those who choose processes by
// their command line, as `pkill -f train.py` does, it looks like the command and not like us: it is called "witness: "
// and the words of the command, so that what chooses both of us and the command chooses it as well, and what chooses us
// alone does not. Make it before there are threads.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "capture/run/signal_relay.h"

namespace telltale::capture {

class SignalWitness {
 public:
  // The caller has blocked these signals.
  SignalWitness(const sigset_t& signals, const std::vector<std::string>& command);
  ~SignalWitness();
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;

  // False when none could be started, or somebody killed it.
  bool is_there() const { return pipe_ >= 0; }
  int descriptor() const { return pipe_; }  // readable when it has something to tell; −1 without one
  // The next signal that it got; absent when it has told all.
  std::optional<SentSignal> next();

 private:
  void leave_pipe();

  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace telltale::capture
