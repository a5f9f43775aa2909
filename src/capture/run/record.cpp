#include "capture/run/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/text_encoding.h"
#include "capture/run/attachment.h"
#include "capture/run/engine.h"
#include "capture/run/file_move.h"
#include "capture/run/gauge_events.h"
#include "capture/run/gauge_log.h"
#include "capture/run/live_folder.h"
#include "capture/run/native_injection.h"
#include "capture/run/process_run.h"
#include "capture/run/timed_steps.h"
#include "formats/write_trace.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

std::string stem_of_now(const std::vector<std::string>& command) {
  const std::time_t seconds = std::time(nullptr);
  std::tm now{};
  localtime_r(&seconds, &now);
  return default_stem(command, now);
}

// A name that no other recording has, and what keeps it for us.
struct Reservation {
  OutputName name;
  LiveFolder live;

  // Where processes write, with their pids put behind it.
  fs::path file() const { return live.path() / name.stem; }
};

Result<Reservation> reserved_name(const RecordOptions& options, Engine engine, const Say& say) {
  constexpr int kMostInOneSecond = 1000;
  const std::string stem = options.pid ? fmt::format("telltale_{}", *options.pid) : stem_of_now(options.command);
  auto name = output_name(options.output, stem, engine == Engine::kTelltale ? ".tell" : ".json");
  if (!name) return std::unexpected(name.error());
  if (name->path().string().find('%') != std::string::npos)
    return failure("the path of a recording must not contain %", name->path());
  // Processes are told of it as JSON.
  if (!is_utf8(name->path().string()))
    return failure("the path of a recording must be UTF-8; choose another one with -o", name->path());
  // Others that began in the same second have the same name in mind.
  const bool is_ours_to_choose = !options.pid && name->stem == stem;
  for (int number = 2;; ++number) {
    auto live = LiveFolder::reserve(name->folder, name->stem);
    if (!live) return std::unexpected(live.error());
    std::error_code error;
    const bool is_there = !options.may_overwrite && fs::exists(name->path(), error);
    if (*live && !is_there) {
      if (!(*live)->put_aside().empty())
        say("a recording of that name was killed; what it had written is in " + shown((*live)->put_aside()));
      return Reservation{*std::move(name), *std::move(*live)};
    }
    if (!is_ours_to_choose || number > kMostInOneSecond)
      return *live ? failure("the file exists; choose another name with -o, or overwrite it with --force", name->path())
                   : failure("another telltale record writes to it; choose another name with -o", name->path());
    name->stem = fmt::format("{}-{}", stem, number);
  }
}

Error no_work_folder() { return {"cannot create a temporary folder in /tmp, /dev/shm or /var/tmp", {}, {}}; }

bool ends_like(const fs::path& path, const std::string& extension) {
  return path.string().ends_with(extension) || (extension == ".json" && path.string().ends_with(".json.tmp"));
}

// Gives recordings their names, in another format where the name asks for it, and finds the best of them.
class Delivery {
 public:
  Delivery(const OutputName& name, const RecordOptions& options, const Caller& caller)
      : name_(name), options_(options), caller_(caller) {}

  void deliver_all(const std::vector<RecordedFile>& files, Recorded& recorded) const {
    const bool is_only_process =
        std::ranges::all_of(files, [&](const RecordedFile& file) { return file.pid == files.front().pid; });
    for (const RecordedFile& file : files) {
      Recording recording{file, file.path, file.rank};
      std::shared_ptr<const Trace> trace = needs_reading(recording) ? read(recording) : nullptr;
      deliver(recording, trace, name_.path_of(file.pid, file.cycle, is_only_process));
      // One trace in memory at a time.
      if (recorded.recordings.empty() || is_better(recording, recorded.recordings[recorded.best])) {
        recorded.best = recorded.recordings.size();
        recorded.trace = options_.wants_trace ? std::move(trace) : nullptr;
      }
      recorded.recordings.push_back(std::move(recording));
    }
  }

 private:
  bool needs_reading(const Recording& recording) const {
    return options_.wants_trace || !ends_like(recording.path, name_.extension);
  }

  std::shared_ptr<const Trace> read(Recording& recording) const {
    const auto result = caller_.read(recording.path);
    if (!result) {
      caller_.say(to_string(result.error()));
      return nullptr;
    }
    const std::shared_ptr<const Trace>& trace = *result;
    recording.events = trace->events.size();
    recording.operators = static_cast<std::uint64_t>(std::ranges::count(trace->events.kind, Kind::kOperator));
    recording.duration = trace->duration;
    if (trace->distributed && trace->distributed->rank) recording.rank = trace->distributed->rank;
    recording.is_loader_worker = trace->metadata_named("loader_worker") != nullptr;
    return trace;
  }

  // On failure it stays where it is.
  void deliver(Recording& recording, const std::shared_ptr<const Trace>& trace, const fs::path& target) const {
    if (recording.path == target) return;
    if (ends_like(recording.path, name_.extension)) {
      if (const auto moved = move_file(recording.path, target, existing()); !moved)
        return caller_.say(to_string(moved.error()) + "; the recording is in " + shown(recording.path));
      recording.path = target;
      return;
    }
    if (!trace) return;
    WriteOptions writing;
    writing.existing = existing();
    const auto written = write_trace(*trace, *format_of_file(target.string()), target, writing);
    if (!written) return caller_.say(to_string(written.error()));
    std::error_code error;
    fs::remove(recording.path, error);
    recording.path = target;
  }

  PendingFile::Existing existing() const {
    return options_.may_overwrite ? PendingFile::Existing::kReplace : PendingFile::Existing::kRefuse;
  }

  // Who ran operators before those who only started others, as launchers do; rank 0 before the others; else whoever did
  // most. What a loader's worker does is known to the process that it works for.
  static bool is_better(const Recording& a, const Recording& b) {
    const auto worth = [](const Recording& each) {
      return std::tuple(each.operators > 0, each.events > 0, !each.is_loader_worker, each.rank == 0, each.events);
    };
    return worth(a) > worth(b);
  }

  const OutputName& name_;
  const RecordOptions& options_;
  const Caller& caller_;
};

void add_gauges(const std::vector<RecordedFile>& files, GaugeLog& log) {
  const std::vector<GaugeReading> readings = log.finish();
  for (const RecordedFile& file : files)
    if (file.path.extension() == ".json" && !file.is_cut_off) add_gauge_events(file.path, file.pid, readings);
}

// Without the Python package.
std::string what_is_recorded_instead(Engine engine, bool can_inject) {
  if (engine != Engine::kKineto) return "; only CUDA programs without PyTorch are recorded";
  if (!can_inject) return "; PyTorch's own profiler records instead";
  return "; PyTorch's own profiler records PyTorch instead, and CUDA programs without it are recorded as ever";
}

Result<Recorded> record_command(const RecordOptions& options, const Caller& caller) {
  const bool can_inject = devices_library({}).has_value();
  const EngineChoice choice = chosen_engine(options.engine, python_folder(), can_inject);
  if (options.engine == Engine::kTelltale && choice.engine != Engine::kTelltale)
    return failure(choice.why_not_telltale);
  if (options.stops_command && choice.engine == Engine::kTelltale && !schedule_of(options) && !options.seconds)
    return failure("--stop-when-recorded needs --steps, --seconds or --active: without them the whole run is recorded");
  const auto reserved = reserved_name(options, choice.engine, caller.say);
  if (!reserved) return std::unexpected(reserved.error());
  const WorkFolder work;
  if (work.path().empty()) return std::unexpected(no_work_folder());
  if (!choice.why_not_telltale.empty())
    caller.say(choice.why_not_telltale + what_is_recorded_instead(choice.engine, can_inject));

  // A process that our adapter records has gauges of its own.
  std::optional<GaugeLog> gauges;
  if (choice.engine == Engine::kKineto) gauges.emplace(DeviceVariables::of_this_process());
  const auto outcome = run_command(options, choice, reserved->file(), work, caller.say);
  Recorded recorded;
  if (!outcome) {
    caller.say(outcome.error().sentence);
    recorded.exit_code = outcome.error().exit_code;
    return recorded;
  }
  const Ending& ending = outcome->ending;
  recorded.exit_code = outcome->was_stopped_by_us && ending.signal == SIGTERM ? 0 : ending.exit_code;
  if (ending.signal != 0 && !outcome->was_stopped_by_us)
    caller.say(fmt::format("the command was ended by signal {} ({})", ending.signal, strsignal(ending.signal)));
  if (outcome->files.empty()) caller.say(outcome->why_nothing);
  for (const RecordedFile& file : outcome->files)
    if (file.path.extension() == ".json") add_timed_steps(file.path, work.text_of_mark(Mark::kSteps, file.pid));
  if (gauges) add_gauges(outcome->files, *gauges);
  Delivery(reserved->name, options, caller).deliver_all(outcome->files, recorded);
  return recorded;
}

Result<Recorded> record_process(const RecordOptions& options, const Caller& caller) {
  const auto reserved = reserved_name(options, Engine::kKineto, caller.say);
  if (!reserved) return std::unexpected(reserved.error());
  const WorkFolder work;
  if (work.path().empty()) return std::unexpected(no_work_folder());
  GaugeLog gauges(DeviceVariables::of(*options.pid));
  const auto outcome = run_process(options, work, caller.say);
  if (!outcome) return std::unexpected(outcome.error());
  add_gauges(outcome->files, gauges);
  Recorded recorded;
  recorded.exit_code = outcome->interruption == 0 ? 0 : 128 + outcome->interruption;
  Delivery(reserved->name, options, caller).deliver_all(outcome->files, recorded);
  return recorded;
}

}  // namespace

std::string shown(const fs::path& path) {
  std::error_code error;
  const fs::path relative = path.lexically_relative(fs::current_path(error));
  return relative.empty() || relative.string().starts_with("..") ? path.string() : relative.string();
}

Result<Recorded> record(const RecordOptions& options, const Caller& caller) {
  return options.pid ? record_process(options, caller) : record_command(options, caller);
}

}  // namespace telltale::capture
