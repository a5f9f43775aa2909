// The signals of a command that is being recorded: it gets each as often as it would have without us.
//
// Made before the command, and before there are threads.
#pragma once

#include <string>
#include <vector>

#include "capture/run/child.h"
#include "capture/run/signal_relay.h"
#include "capture/run/signal_witness.h"

namespace telltale::capture {

class CommandSignals {
 public:
  explicit CommandSignals(const std::vector<std::string>& command);

  const SignalQueue& queue() const { return queue_; }
  // Waits for a signal, for `other` to become readable (−1: nothing), or for a while.
  void wait(int other) const;

  // What came before there is a command, which is to get it once it is there.
  std::vector<int> early() const;
  // Sends the command what it must get from us, and stops with it.
  void pass_on(const Child& child);
  // Whether something came that would have ended us. For the time when the command is gone.
  bool were_interrupting() const;

 private:
  SignalQueue queue_;
  SignalWitness witness_;
  SignalRelay relay_;
};

}  // namespace telltale::capture
