#include "capture/run/command_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "capture/kineto/endpoint.h"
#include "capture/run/command_signals.h"
#include "capture/run/end_note.h"
#include "capture/run/native_injection.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// For a process that outlives the command and has a trace to write.
constexpr std::chrono::seconds kLongestWaitAfterEnd{20};
// For a process that is about to tell what its steps took.
constexpr std::chrono::seconds kLongestWaitForSteps{2};

bool is_alive(int pid) { return kill(pid, 0) == 0 || errno == EPERM; }

class CommandRun {
 public:
  CommandRun(const RecordOptions& options, const EngineChoice& choice, const fs::path& file, const WorkFolder& work,
             const Say& say)
      : options_(options),
        choice_(choice),
        file_(file),
        work_(work),
        say_(say),
        log_file_(kineto_log_file(file, work.path())),
        endpoint_(Endpoint::in_folder(work.path(), geteuid())),
        clients_(capture_plan(options, log_file_), is_worth_having) {}

  std::expected<CommandOutcome, StartFailure> run() {
    if (!endpoint_) say_(to_string(endpoint_.error()));
    CommandSignals signals(options_.command);
    const std::vector<std::string> environment = variables();
    const std::vector<int> early = signals.early();
    const auto child = Child::start(options_.command, environment, signals.queue());
    if (!child) return std::unexpected(child.error());
    for (const int number : early) child->send(number);
    CommandOutcome outcome;
    while (true) {
      wait_for_something(signals);
      signals.pass_on(*child);
      serve();
      if (const auto ending = child->ending()) {
        outcome.ending = *ending;
        break;
      }
      if (options_.stops_command && !outcome.was_stopped_by_us && is_recorded() && has_timed_steps()) {
        outcome.was_stopped_by_us = true;
        child->send(SIGTERM);
      }
    }
    wait_for_pending_files(signals);
    outcome.files = kept_files(found_files());
    for (RecordedFile& file : outcome.files) file.rank = rank_of(file.pid);
    for (const RecordedFile& file : outcome.files) note_how_it_ended(file, *child, outcome);
    if (outcome.files.empty()) outcome.why_nothing = why_nothing();
    return outcome;
  }

 private:
  std::vector<std::string> variables() const {
    const fs::path configuration = work_.path() / "kineto.conf";
    write_client_configuration(configuration);
    std::vector<std::string> all = kineto_variables(work_.path(), log_file_, configuration);
    if (choice_.engine == Engine::kKineto) all.emplace_back("KINETO_USE_DAEMON=1");
    const Attachment attachment = attachment_for(options_, file_, choice_, work_.path());
    if (!choice_.python.empty() || attachment.native)
      for (auto& each : attachment_variables(attachment)) all.push_back(std::move(each));
    if (attachment.native)
      for (auto& each : native_variables()) all.push_back(std::move(each));
    return all;
  }

  std::vector<std::string> native_variables() const {
    const auto library = devices_library(choice_.python);
    if (!library) return {};
    const NativeInjection injection = native_injection(*library);
    for (const std::string& name : injection.left_alone)
      say_(fmt::format("{} is set for another tool; {} recorded in programs without PyTorch", name,
                       name.starts_with("CUDA") ? "CUDA is not" : "NVTX ranges are not"));
    return injection.variables;
  }

  void wait_for_something(const CommandSignals& signals) const {
    signals.wait(endpoint_ ? endpoint_->descriptor() : -1);
  }

  void serve() {
    if (endpoint_) endpoint_->serve([this](const ConfigurationRequest& request, int) { return answer(request); });
    clients_.look_for_files();
    for (const Client& client : clients_.clients()) {
      work_.set_mark(Mark::kTold, client.pid, client.state != ClientState::kDone);
      work_.set_mark(Mark::kRecording, client.pid, client.state == ClientState::kRecording);
    }
  }

  // With our adapter in the processes, only those are asked for a trace in which it could not work.
  std::string answer(const ConfigurationRequest& request) {
    const int pid = request.pids.front();
    const bool is_meant = choice_.engine == Engine::kKineto || work_.has_mark(Mark::kKineto, pid);
    if (is_meant && !ranks_.contains(pid)) ranks_[pid] = variable_of(pid, "RANK").value_or("");
    return is_meant ? clients_.answer(request, Clock::now()) : std::string();
  }

  // What the process's environment said, as we saw it or as our adapter wrote it into its mark.
  std::optional<int> rank_of(int pid) const {
    const auto seen = ranks_.find(pid);
    std::istringstream text(seen == ranks_.end() ? work_.text_of_mark(Mark::kTorch, pid) : seen->second);
    int rank = 0;
    return text >> rank ? std::optional(rank) : std::nullopt;
  }

  bool is_recorded() const {
    const auto files = found_files();
    const bool all_have_ended = std::ranges::all_of(
        files, [](const RecordedFile& file) { return file.path.extension() != ".tell" || is_complete(file.path); });
    return all_have_ended && (clients_.clients().empty() ? !files.empty() : clients_.all_are_recorded(Clock::now()));
  }

  // Processes in which PyTorch's profiler recorded tell what steps took there when its trace is complete, and one that
  // has no steps tells nothing.
  bool has_timed_steps() {
    if (!recorded_since_) recorded_since_ = Clock::now();
    const bool all_have_told = std::ranges::all_of(
        clients_.clients(), [this](const Client& client) { return work_.has_mark(Mark::kSteps, client.pid); });
    return choice_.python.empty() || all_have_told || Clock::now() - *recorded_since_ > kLongestWaitForSteps;
  }

  // The command has ended; processes that it leaves behind may still have something to write.
  void wait_for_pending_files(const CommandSignals& signals) {
    const auto deadline = Clock::now() + kLongestWaitAfterEnd;
    bool is_told = false;
    while (Clock::now() < deadline) {
      serve();
      const bool is_pending = std::ranges::any_of(clients_.clients(), [](const Client& client) {
        return client.state == ClientState::kRecording && is_alive(client.pid);
      });
      if (!is_pending) return;
      if (!std::exchange(is_told, true)) say_("waiting for a process that is still writing its trace …");
      wait_for_something(signals);
      if (signals.were_interrupting()) return;
    }
  }

  // Of other processes than the command itself nobody tells us how they ended; those that are still there may go on.
  static void note_how_it_ended(const RecordedFile& file, const Child& child, const CommandOutcome& outcome) {
    if (file.path.extension() != ".tell") return;
    if (file.pid == child.pid()) {
      note_end(file.path, how_it_ended(outcome.ending, outcome.was_stopped_by_us));
    } else if (!is_alive(file.pid)) {
      note_end(file.path, "something that telltale did not see");
    }
  }

  std::vector<RecordedFile> found_files() const {
    auto files = gathered(file_.parent_path(), file_.filename());
    const fs::path log = log_file_;
    if (log.parent_path() != file_.parent_path())
      for (RecordedFile& file : gathered(log.parent_path(), log.stem())) files.push_back(std::move(file));
    return files;
  }

  std::string why_nothing() const {
    if (!clients_.clients().empty())
      return "nothing was recorded: the process ended before its trace was complete; let it run longer, or record less "
             "of "
             "it with --steps 3 or --seconds 1";
    if (work_.has_mark_of_any_process(Mark::kKineto))
      return "nothing was recorded: the process ended before PyTorch's profiler asked what to record";
    if (work_.has_mark_of_any_process(Mark::kTorch))
      return "nothing was recorded: a process imported torch but wrote no recording; it may have ended too early, or "
             "before the steps you asked for";
    if (work_.has_mark_of_any_process(Mark::kCuda))
      return options_.schedule ? "nothing was recorded: a program used CUDA and told of too few steps for what comes "
                                 "before the recorded ones; it marks them by telltale_step(), and --steps, --seconds "
                                 "or no option at all need none"
                               : "nothing was recorded: a program used CUDA but wrote no recording";
    if (choice_.engine == Engine::kKineto)
      return "nothing was recorded: no process asked for work, as PyTorch does once it is imported; did the program "
             "import torch?";
    return "nothing was recorded: no process used CUDA, and no Python process imported torch with our environment "
           "variables; python -I, -E or "
           "-S, "
           "or a program that clears PYTHONPATH, keeps them out (try --engine kineto)";
  }

  const RecordOptions& options_;
  const EngineChoice& choice_;
  const fs::path& file_;
  const WorkFolder& work_;
  const Say& say_;
  std::string log_file_;
  Result<Endpoint> endpoint_;
  ClientList clients_;
  std::map<int, std::string> ranks_;
  std::optional<Clock::time_point> recorded_since_;
};

}  // namespace

std::expected<CommandOutcome, StartFailure> run_command(const RecordOptions& options, const EngineChoice& choice,
                                                        const fs::path& file, const WorkFolder& work, const Say& say) {
  return CommandRun(options, choice, file, work, say).run();
}

}  // namespace telltale::capture
