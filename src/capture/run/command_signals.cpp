#include "capture/run/command_signals.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

namespace telltale::capture {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestWait{200};

}  // namespace

CommandSignals::CommandSignals(const std::vector<std::string>& command)
    : queue_(command_signals()), witness_(queue_.taken(), command) {}

void CommandSignals::wait(int other) const {
  std::array<pollfd, 3> descriptors = {pollfd{queue_.descriptor(), POLLIN, 0}, pollfd{other, POLLIN, 0},
                                       pollfd{witness_.descriptor(), POLLIN, 0}};
  auto time = kLongestWait;
  if (const auto next = relay_.next_time())
    time = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()), std::chrono::milliseconds(0),
                      kLongestWait);
  poll(descriptors.data(), descriptors.size(), static_cast<int>(time.count()));
}

std::vector<int> CommandSignals::early() const {
  std::vector<int> numbers;
  while (const auto arrival = queue_.next())
    if (arrival->signal.number != SIGCHLD) numbers.push_back(arrival->signal.number);
  return numbers;
}

void CommandSignals::pass_on(const Child& child) {
  const auto now = Clock::now();
  while (const auto told = witness_.next()) relay_.witnessed(*told, now);
  while (const auto arrival = queue_.next()) {
    const int number = arrival->signal.number;
    if (number == SIGCHLD) continue;
    if (arrival->came_from_terminal) {
      if (number == SIGTSTP) stop_ourselves();
    } else if (witness_.is_there() && child.is_in_our_group()) {
      relay_.arrived(arrival->signal, now);
    } else {
      child.send(number);
      if (number == SIGTSTP) stop_ourselves();
    }
  }
  for (const SignalRelay::Settled& each : relay_.settled(now)) {
    if (each.is_for_command) child.send(each.number);
    if (each.number == SIGTSTP) stop_ourselves();
  }
}

bool CommandSignals::were_interrupting() const {
  bool is_interrupted = false;
  while (const auto arrival = queue_.next()) {
    const int number = arrival->signal.number;
    if (number == SIGTSTP) stop_ourselves();
    is_interrupted = is_interrupted || (number != SIGCHLD && number != SIGTSTP && number != SIGCONT);
  }
  return is_interrupted;
}

}  // namespace telltale::capture
