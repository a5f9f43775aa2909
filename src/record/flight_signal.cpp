#include "record/flight_signal.h"

#include <csignal>

#include "record/recorder_state.h"
#include "record/writer.h"

namespace telltale::record {
namespace {

constinit struct sigaction signal_before = {};

void dump_on_signal(int /*signal*/) {
  writer.ask_for_dump();
  pool.wake_writer();
}

}  // namespace

void watch_flight_signal(int signal) {
  struct sigaction action{}, before{};
  action.sa_handler = dump_on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, &before);
  if (before.sa_handler != dump_on_signal) signal_before = before;  // else a parent's session left it to this process
}

void unwatch_flight_signal(int signal) {
  struct sigaction now{};
  sigaction(signal, nullptr, &now);
  if (now.sa_handler == dump_on_signal) sigaction(signal, &signal_before, nullptr);
}

}  // namespace telltale::record
