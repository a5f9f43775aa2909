// The processes that asked us for work, and how far each of them is: it asks, is told what to record, is busy with it,
// and is done when its file is there.
//
// A process never says whether it took what it was told. Kineto passes a request by steps over in silence while no
// optimizer step has ended, so it is told again each time that it asks and is not busy, until its file is there; where
// no steps come, it is asked for a stretch of time instead. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/kineto/configuration.h"
#include "capture/kineto/protocol.h"

namespace telltale::capture {

struct CapturePlan {
  std::string log_file;             // for recordings by steps, or by time where those are all that is wanted
  std::optional<StepWindow> steps;  // at least one of these two
  std::optional<std::chrono::milliseconds> duration;
  std::chrono::seconds patience{10};  // with both: so long steps are waited for before time is recorded
  bool with_shapes = false, with_stacks = false, with_memory = false;
};

// Where a recording by time goes that only stands in for one by steps.
std::string stand_in_log_file(const std::string& log_file);

enum class ClientState { kAsked, kRecording, kDone };

struct Client {
  int pid = 0;
  ClientState state = ClientState::kAsked;
  std::chrono::steady_clock::time_point first_asked;
};

class ClientList {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `is_trace` says whether a file is there, and worth having; where not, the process is told again.
  ClientList(CapturePlan plan, std::function<bool(const std::string&)> is_trace);

  // The text to answer with: a configuration, or nothing to do.
  std::string answer(const ConfigurationRequest& request, TimePoint now);

  // Looks for files that have come since.
  void look_for_files();

  const std::vector<Client>& clients() const { return clients_; }
  // There is at least one, and each has a file. One that stands in counts when nothing better is to be expected.
  bool all_are_recorded(TimePoint now) const;

 private:
  Client& client_of(int pid, TimePoint now);
  bool has_file(const Client& client) const;
  bool has_stand_in(const Client& client) const;
  bool is_stand_in_wanted(const Client& client, TimePoint now) const;
  KinetoRequest request_by_steps() const;
  KinetoRequest request_by_time(const std::string& log_file) const;

  CapturePlan plan_;
  std::function<bool(const std::string&)> is_trace_;
  std::vector<Client> clients_;
};

}  // namespace telltale::capture
