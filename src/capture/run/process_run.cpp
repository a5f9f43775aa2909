#include "capture/run/process_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "capture/kineto/endpoint.h"
#include "capture/run/child.h"
#include "capture/run/engine.h"
#include "capture/run/foreign_file.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A process asks every five seconds unless it was told otherwise.
constexpr std::chrono::seconds kLongestWaitForRequest{15};
constexpr int kPollMilliseconds = 200;
constexpr const char* kStem = "trace";

std::string why_unreachable(int pid) {
  if (kill(pid, 0) == 0) return {};
  if (errno == EPERM) return fmt::format("process {} belongs to another user", pid);
  return fmt::format("there is no process {}", pid);
}

struct Owner {
  uid_t user = geteuid();
  gid_t group = getegid();
};

// As the process is now: its folder in /proc is root's where it has changed its user.
Owner owner_of(int pid) {
  Owner owner;
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    unsigned real = 0, effective = 0;
    if (!(words >> key >> real >> effective)) continue;
    if (key == "Uid:") owner.user = effective;
    if (key == "Gid:") owner.group = effective;
  }
  return owner;
}

// Where the process leaves its trace. It is in our work folder, so that a process of another user, which may write to
// it, cannot put something else in its place; what it leaves is taken from there with care.
Result<fs::path> folder_for(const Owner& owner, const WorkFolder& work, const Say& say) {
  const fs::path folder = work.path() / "given";
  if (mkdir(folder.c_str(), S_IRWXU) != 0) return failure(std::strerror(errno), folder);
  if (owner.user == geteuid()) return folder;
  const bool is_given = chmod(work.path().c_str(), S_IRWXU | S_IXGRP | S_IXOTH) == 0 &&
                        chown(folder.c_str(), owner.user, owner.group) == 0;
  if (!is_given) say("the process may not be able to write its trace");
  return folder;
}

Result<Endpoint> endpoint_for(int pid, const Owner& owner) {
  const auto folder = variable_of(pid, "KINETO_IPC_SOCKET_DIR");
  return folder && !folder->empty() ? Endpoint::in_folder(*folder, owner.user)
                                    : Endpoint::with_abstract_name(owner.user);
}

// Takes all that the process has left, also what it could not complete.
void take_files(const fs::path& from, uid_t owner, const fs::path& to) {
  std::error_code error;
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error))
    if (recognized(entry->path(), kStem)) take_file(entry->path(), owner, to / entry->path().filename());
}

std::string why_silent(int pid) {
  const bool has_variable = variable_of(pid, "KINETO_USE_DAEMON").has_value();
  return fmt::format("process {} did not ask what to record within {} s: {}", pid, kLongestWaitForRequest.count(),
                     has_variable ? "it has not imported torch, or another program answers it"
                                  : "it was not started with KINETO_USE_DAEMON=1");
}

// Serves the process until its trace is there.
class ProcessRun {
 public:
  ProcessRun(int pid, Endpoint& endpoint, CapturePlan plan, std::function<bool(const std::string&)> is_trace,
             const Say& say)
      : pid_(pid), endpoint_(endpoint), clients_(std::move(plan), std::move(is_trace)), say_(say) {}

  // What interrupted us; 0 when nothing did.
  Result<int> wait() {
    const auto deadline = Clock::now() + kLongestWaitForRequest;
    while (!clients_.all_are_recorded(Clock::now()) && kill(pid_, 0) == 0) {
      if (const int signal = wait_for_something()) return signal;
      const bool had_asked = !clients_.clients().empty();
      endpoint_.serve([this](const ConfigurationRequest& request, int sender) {
        return sender == pid_ ? clients_.answer(request, Clock::now()) : std::string();
      });
      if (!had_asked && !clients_.clients().empty())
        say_(fmt::format("process {} asked, and was told what to record", pid_));
      if (clients_.clients().empty() && Clock::now() > deadline) return failure(why_silent(pid_));
    }
    return 0;
  }

 private:
  int wait_for_something() const {
    pollfd descriptors[] = {{signals_.descriptor(), POLLIN, 0}, {endpoint_.descriptor(), POLLIN, 0}};
    poll(descriptors, std::size(descriptors), kPollMilliseconds);
    while (const auto arrival = signals_.next())
      if (arrival->signal.number != SIGCHLD) return arrival->signal.number;
    return 0;
  }

  int pid_;
  Endpoint& endpoint_;
  ClientList clients_;
  const Say& say_;
  SignalQueue signals_{ending_signals()};
};

}  // namespace

Result<ProcessOutcome> run_process(const RecordOptions& options, const WorkFolder& work, const Say& say) {
  const int pid = *options.pid;
  if (const std::string reason = why_unreachable(pid); !reason.empty()) return failure(reason);
  const Owner owner = owner_of(pid);
  auto endpoint = endpoint_for(pid, owner);
  if (!endpoint) return std::unexpected(endpoint.error());
  const auto given = folder_for(owner, work, say);
  if (!given) return std::unexpected(given.error());
  const auto is_trace = [&](const std::string& path) {
    const fs::path taken = work.path() / fs::path(path).filename();
    take_file(path, owner.user, taken);
    return is_worth_having(taken);
  };

  say(fmt::format("waiting for process {} to ask what to record (every 5 s by default) …", pid));
  const CapturePlan plan = capture_plan(options, *given / fmt::format("{}.json", kStem));
  const auto interruption = ProcessRun(pid, *endpoint, plan, is_trace, say).wait();
  if (!interruption) return std::unexpected(interruption.error());
  take_files(*given, owner.user, work.path());
  ProcessOutcome outcome{*interruption, kept_files(gathered(work.path(), kStem))};
  if (outcome.files.empty() && outcome.interruption == 0)
    return failure(fmt::format("process {} ended before its trace was complete", pid));
  return outcome;
}

}  // namespace telltale::capture
