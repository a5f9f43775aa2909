// Which of the signals that we got the command must get from us.
//
// The command is in our process group, so what was sent to the group, or by systemd to every process of a unit, has
// reached it already; what was sent to us alone has not. A signal does not say which of the two it is. A witness does:
// a process of ours beside the command that is sent nothing by itself (signal_witness.h). What it gets from the same
// sender at the same time was meant for all. docs/decisions/0011-a-witness-for-signals.md weighs the other ways.
//
// Pure: times come from the caller. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace telltale::capture {

struct SentSignal {
  int number = 0;
  int sender = 0;  // its pid; 0: the kernel, or a process that we cannot see

  bool operator==(const SentSignal&) const = default;
};

class SignalRelay {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `timeout` sends one to its child and then to the group, systemd to one process after another: between the first and
  // the last lies what a scheduler makes of some system calls. For a signal to us alone it is a delay.
  static constexpr std::chrono::milliseconds kPatience{100};

  struct Settled {
    int number = 0;
    bool is_for_command = false;  // nobody else has sent it there

    bool operator==(const Settled&) const = default;
  };

  void arrived(SentSignal signal, Time now);    // at us
  void witnessed(SentSignal signal, Time now);  // by the witness
  // Those about which nothing more is to be learned, in the order in which they arrived; each once.
  std::vector<Settled> settled(Time now);
  // When the next one will be settled at the latest; absent when none waits.
  std::optional<Time> next_time() const;

 private:
  struct Timed {
    SentSignal signal;
    Time time;
  };
  bool was_witnessed(const Timed& arrival) const;

  std::vector<Timed> waiting_, witnessed_;
};

}  // namespace telltale::capture
