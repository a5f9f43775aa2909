#include "capture/run/process_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <utility>

#include "capture/kineto/endpoint.h"
#include "capture/run/child.h"
#include "capture/run/engine.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A process asks every five seconds unless it was told otherwise.
constexpr std::chrono::seconds kLongestWaitForRequest{15};
constexpr int kPollMilliseconds = 200;

std::string why_unreachable(int pid) {
  if (kill(pid, 0) == 0) return {};
  if (errno == EPERM) return fmt::format("process {} belongs to another user", pid);
  return fmt::format("there is no process {}", pid);
}

// Traces are taken from a folder of our own that the process's user may write to.
void give_to_owner_of(int pid, const fs::path& folder, const Say& say) {
  struct stat owner{};
  if (geteuid() != 0 || stat(fmt::format("/proc/{}", pid).c_str(), &owner) != 0) return;
  if (chown(folder.c_str(), owner.st_uid, owner.st_gid) != 0) say("the process may not be able to write its trace");
}

Result<Endpoint> endpoint_for(int pid) {
  const auto folder = variable_of(pid, "KINETO_IPC_SOCKET_DIR");
  return folder && !folder->empty() ? Endpoint::in_folder(*folder) : Endpoint::with_abstract_name();
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
  ProcessRun(int pid, Endpoint& endpoint, CapturePlan plan, const Say& say)
      : pid_(pid), endpoint_(endpoint), clients_(std::move(plan), is_worth_having), say_(say) {}

  // What interrupted us; 0 when nothing did.
  Result<int> wait() {
    const auto deadline = Clock::now() + kLongestWaitForRequest;
    while (!clients_.all_are_recorded(Clock::now()) && kill(pid_, 0) == 0) {
      if (const int signal = wait_for_something()) return signal;
      const bool had_asked = !clients_.clients().empty();
      endpoint_.serve([this](const ConfigurationRequest& request) {
        return request.pids.front() == pid_ ? clients_.answer(request, Clock::now()) : std::string();
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
  auto endpoint = endpoint_for(pid);
  if (!endpoint) return std::unexpected(endpoint.error());
  give_to_owner_of(pid, work.path(), say);

  say(fmt::format("waiting for process {} to ask what to record (every 5 s by default) …", pid));
  const auto interruption = ProcessRun(pid, *endpoint, capture_plan(options, work.path() / "trace.json"), say).wait();
  if (!interruption) return std::unexpected(interruption.error());
  ProcessOutcome outcome{*interruption, kept_files(gathered(work.path(), "trace", {}))};
  if (outcome.files.empty() && outcome.interruption == 0)
    return failure(fmt::format("process {} ended before its trace was complete", pid));
  return outcome;
}

}  // namespace telltale::capture
