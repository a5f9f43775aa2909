#include "cli/record_session.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include "capture/kineto/endpoint.h"
#include "cli/record_results.h"
#include "tell/layout.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 200;
// For a process that outlives the command and has a trace to write.
constexpr std::chrono::seconds kLongestWaitAfterEnd{20};
// Clocks of file systems are coarser than ours.
constexpr std::chrono::seconds kClockSlack{2};

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_alive(int pid) { return kill(pid, 0) == 0 || errno == EPERM; }

// True when a recording of ours has been closed.
bool has_ended(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, sizeof tell::kTrailerMagic> last{};
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  return file.read(last.data(), last.size()) &&
         std::ranges::equal(last, tell::kTrailerMagic, {}, {}, [](unsigned char c) { return static_cast<char>(c); });
}

class Session {
 public:
  Session(const RecordOptions& options, const EngineChoice& choice, const OutputName& name, const WorkFolder& work)
      : options_(options),
        choice_(choice),
        name_(name),
        work_(work),
        log_file_(kineto_log_file(name, work.path())),
        endpoint_(capture::Endpoint::in_folder(work.path())),
        clients_(capture_plan(options, log_file_), is_worth_having) {}

  std::expected<SessionOutcome, StartFailure> run() {
    if (!endpoint_) say(to_string(endpoint_.error()));
    const SignalQueue signals;
    const auto child = Child::start(options_.command, variables(), signals);
    if (!child) return std::unexpected(child.error());
    SessionOutcome outcome;
    while (true) {
      wait_for_something(signals);
      pass_on_signals(signals, *child);
      serve();
      if (const auto ending = child->ending()) {
        outcome.ending = *ending;
        break;
      }
      if (options_.stops_command && !outcome.was_stopped_by_us && is_recorded()) {
        outcome.was_stopped_by_us = true;
        child->send(SIGTERM);
      }
    }
    wait_for_pending_files(signals);
    outcome.files = kept_files(found_files());
    for (RecordedFile& file : outcome.files) file.rank = rank_of(file.pid);
    if (outcome.files.empty()) outcome.why_nothing = why_nothing();
    return outcome;
  }

 private:
  std::vector<std::string> variables() const {
    const fs::path configuration = work_.path() / "kineto.conf";
    write_client_configuration(configuration);
    std::vector<std::string> all = kineto_variables(work_.path(), log_file_, configuration);
    if (choice_.engine == Engine::kKineto) all.emplace_back("KINETO_USE_DAEMON=1");
    if (!choice_.python.empty()) {
      for (auto& each : adapter_variables(choice_, attachment_text(options_, name_, choice_, work_.path())))
        all.push_back(std::move(each));
    }
    return all;
  }

  void wait_for_something(const SignalQueue& signals) const {
    std::array<pollfd, 2> descriptors = {pollfd{signals.descriptor(), POLLIN, 0},
                                         pollfd{endpoint_ ? endpoint_->descriptor() : -1, POLLIN, 0}};
    poll(descriptors.data(), descriptors.size(), kPollMilliseconds);
  }

  static void pass_on_signals(const SignalQueue& signals, const Child& child) {
    while (const auto arrival = signals.next())
      if (arrival->number != SIGCHLD && !arrival->came_from_terminal) child.send(arrival->number);
  }

  void serve() {
    if (endpoint_) endpoint_->serve([this](const capture::ConfigurationRequest& request) { return answer(request); });
    clients_.look_for_files();
    for (const capture::Client& client : clients_.clients()) {
      set_mark("told", client.pid, client.state != capture::ClientState::kDone);
      set_mark("recording", client.pid, client.state == capture::ClientState::kRecording);
    }
  }

  // For processes that are about to end: they wait while their profiler has something to write.
  void set_mark(const std::string& kind, int pid, bool is_set) const {
    const fs::path mark = mark_of(kind, pid);
    std::error_code error;
    if (is_set == is_file(mark)) return;
    if (is_set)
      std::ofstream{mark};
    else
      fs::remove(mark, error);
  }

  // With our adapter in the processes, only those are asked for a trace in which it could not work.
  std::string answer(const capture::ConfigurationRequest& request) {
    const int pid = request.pids.front();
    const bool is_meant = choice_.engine == Engine::kKineto || has_mark("kineto", pid);
    if (is_meant && !ranks_.contains(pid)) ranks_[pid] = variable_of(pid, "RANK").value_or("");
    return is_meant ? clients_.answer(request, Clock::now()) : std::string();
  }

  fs::path mark_of(const std::string& kind, int pid) const { return work_.path() / fmt::format("{}_{}", kind, pid); }
  bool has_mark(const std::string& kind, int pid) const { return is_file(mark_of(kind, pid)); }

  // What the process's environment said, as we saw it or as our adapter wrote it into its mark.
  std::optional<int> rank_of(int pid) const {
    const auto seen = ranks_.find(pid);
    std::ifstream mark(mark_of("torch", pid));
    std::istringstream text(seen == ranks_.end() ? std::string(std::istreambuf_iterator<char>(mark), {})
                                                 : seen->second);
    int rank = 0;
    return text >> rank ? std::optional(rank) : std::nullopt;
  }

  bool is_recorded() const {
    const auto files = found_files();
    const bool all_have_ended = std::ranges::all_of(
        files, [](const RecordedFile& file) { return file.path.extension() != ".tell" || has_ended(file.path); });
    return all_have_ended && (clients_.clients().empty() ? !files.empty() : clients_.all_are_recorded(Clock::now()));
  }

  // The command has ended; processes that it leaves behind may still have something to write.
  void wait_for_pending_files(const SignalQueue& signals) {
    const auto deadline = Clock::now() + kLongestWaitAfterEnd;
    bool is_told = false;
    while (Clock::now() < deadline) {
      serve();
      const bool is_pending = std::ranges::any_of(clients_.clients(), [](const capture::Client& client) {
        return client.state == capture::ClientState::kRecording && is_alive(client.pid);
      });
      if (!is_pending) return;
      if (!std::exchange(is_told, true)) say("waiting for a process that is still writing its trace …");
      wait_for_something(signals);
      while (const auto arrival = signals.next())
        if (arrival->number != SIGCHLD) return;
    }
  }

  std::vector<RecordedFile> found_files() const {
    auto files = gathered(name_.folder, name_.stem, started_);
    const fs::path log = log_file_;
    if (log.parent_path() != name_.folder)
      for (RecordedFile& file : gathered(log.parent_path(), log.stem(), started_)) files.push_back(std::move(file));
    return files;
  }

  bool has_any_mark(const std::string& kind) const {
    std::error_code error;
    for (fs::directory_iterator entry(work_.path(), error), end; !error && entry != end; entry.increment(error))
      if (entry->path().filename().string().starts_with(kind + "_")) return true;
    return false;
  }

  std::string why_nothing() const {
    if (!clients_.clients().empty())
      return "nothing was recorded: PyTorch's profiler was asked, but the process ended before its trace was complete; "
             "record a longer run, or less of it with --steps 3 or --seconds 1";
    if (has_any_mark("kineto"))
      return "nothing was recorded: PyTorch's profiler was to record, but the process ended before it asked what";
    if (has_any_mark("torch"))
      return "nothing was recorded: a process imported torch but wrote no recording; it may have ended too early, or "
             "before the steps that were asked for";
    if (choice_.engine == Engine::kKineto)
      return "nothing was recorded: no process asked for work, as PyTorch does after its import; was torch imported?";
    return "nothing was recorded: no Python process imported torch with our environment; python -I, -E and -S, or a "
           "program that clears PYTHONPATH, keep us out (try --engine kineto)";
  }

  const RecordOptions& options_;
  const EngineChoice& choice_;
  const OutputName& name_;
  const WorkFolder& work_;
  std::string log_file_;
  Result<capture::Endpoint> endpoint_;
  capture::ClientList clients_;
  std::map<int, std::string> ranks_;
  fs::file_time_type started_ = fs::file_time_type::clock::now() - kClockSlack;
};

}  // namespace

std::expected<SessionOutcome, StartFailure> record_command(const RecordOptions& options, const EngineChoice& choice,
                                                           const OutputName& name, const WorkFolder& work) {
  return Session(options, choice, name, work).run();
}

}  // namespace telltale::cli
