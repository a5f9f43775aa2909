#include "cli/record_results.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "advise/diagnosis.h"
#include "base/amounts.h"
#include "cli/load.h"
#include "cli/output.h"
#include "formats/write_trace.h"
#include "report/analyze_terminal.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

// One process's recording as it is in the end.
struct Recording {
  RecordedFile file;
  fs::path path;
  std::optional<Trace> trace;  // of the one that is diagnosed, or until another one turns out to be
  std::uint64_t events = 0;
  Nanoseconds duration = 0;
  std::optional<std::int64_t> rank;
};

// As one would type it: relative to the current folder where it is in it.
std::string shown(const fs::path& path) {
  std::error_code error;
  const fs::path relative = path.lexically_relative(fs::current_path(error));
  return relative.empty() || relative.string().starts_with("..") ? path.string() : relative.string();
}

std::string size_of(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? "gone" : format_bytes(static_cast<std::int64_t>(bytes));
}

bool ends_like(const fs::path& path, const std::string& extension) {
  return path.string().ends_with(extension) || (extension == ".json" && path.string().ends_with(".json.tmp"));
}

bool moved(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return true;
  if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, error)) return false;
  fs::remove(from, error);
  return true;
}

// Gives a recording its name, in another format where that name asks for it. On failure it stays where it is.
void deliver(Recording& recording, const fs::path& target, const std::string& extension) {
  if (recording.path == target) return;
  if (ends_like(recording.path, extension)) {
    if (moved(recording.path, target)) {
      recording.path = target;
    } else {
      say(fmt::format("{} could not be written; the recording is in {}", shown(target), shown(recording.path)));
    }
    return;
  }
  if (!recording.trace) return;
  WriteOptions writing;
  writing.existing = PendingFile::Existing::kReplace;
  const auto written = write_trace(*recording.trace, *format_of_file(target.string()), target, writing);
  if (!written) return say(to_string(written.error()));
  std::error_code error;
  fs::remove(recording.path, error);
  recording.path = target;
}

bool needs_reading(const Recording& recording, const OutputName& name, const RecordOptions& options) {
  return !options.only_records || !ends_like(recording.path, name.extension);
}

void read(Recording& recording, const GlobalOptions& globals) {
  auto trace = load(recording.path, globals);
  if (!trace) return say(to_string(trace.error()));
  recording.events = trace->events.size();
  recording.duration = trace->duration;
  if (trace->distributed && trace->distributed->rank) recording.rank = trace->distributed->rank;
  recording.trace = std::move(*trace);
}

// Rank 0 before the others, else whoever did most.
bool is_better(const Recording& a, const Recording& b) {
  return std::tuple(a.events > 0, a.rank == 0, a.events) > std::tuple(b.events > 0, b.rank == 0, b.events);
}

std::string line_of(const Recording& recording) {
  std::string line = fmt::format("  {}  {}", shown(recording.path), size_of(recording.path));
  if (recording.rank) line += fmt::format(", rank {}", *recording.rank);
  line += fmt::format(", process {}", recording.file.pid);
  if (recording.events > 0)
    line += fmt::format(", {} events over {}", format_count(static_cast<std::int64_t>(recording.events)),
                        format_time(recording.duration));
  return line + (recording.file.is_cut_off ? ", cut off" : "");
}

// Of a recording from the very beginning, the first steps say little: things are loaded, compiled and laid out in them.
std::optional<StepRange> steady_steps(const Recording& recording, const RecordOptions& options) {
  constexpr std::size_t kWarmupSteps = 2, kLeastLeft = 3;
  const bool is_from_the_beginning =
      recording.file.path.extension() == ".tell" && !schedule_of(options) && !options.seconds;
  if (!is_from_the_beginning || recording.trace->steps.size() < kWarmupSteps + kLeastLeft) return std::nullopt;
  return StepRange{.first = recording.trace->steps[kWarmupSteps].index};
}

void print_diagnosis(const Recording& recording, const std::optional<StepRange>& steps) {
  const int descriptor = isatty(STDOUT_FILENO) != 0 ? STDOUT_FILENO : STDERR_FILENO;
  DiagnosisOptions diagnosing;
  diagnosing.steps = steps;
  Diagnosis diagnosis = diagnose(*recording.trace, diagnosing);
  diagnosis.path = shown(recording.path);
  const auto printed = print("\n" + analyze_text(diagnosis, *recording.trace, output_style(descriptor)), descriptor);
  if (!printed) say(to_string(printed.error()));
}

void say_where(const std::vector<Recording>& recordings, const Recording& chosen, bool is_diagnosed) {
  if (recordings.size() == 1) return say(fmt::format("recorded to {} ({})", shown(chosen.path), size_of(chosen.path)));
  say(fmt::format("recorded {} files{}", recordings.size(),
                  is_diagnosed ? "; the diagnosis is of " + shown(chosen.path) : ""));
  for (const Recording& each : recordings) std::cerr << line_of(each) << '\n';
}

// What to know about the one that is diagnosed, and what to type next.
void say_what_next(const Recording& chosen, const std::optional<StepRange>& steps) {
  if (chosen.file.is_cut_off) say("the process ended while the file was being written; what is in it was read");
  if (chosen.file.is_stand_in)
    say("no optimizer step came in time, so that a stretch of time was recorded instead of steps");
  if (steps) say("the first two steps, which warm up, are in the file but not in the diagnosis");
  say(fmt::format("next: telltale analyze {}{} --html report.html", shown(chosen.path),
                  steps ? fmt::format(" --steps {}..", steps->first) : ""));
}

}  // namespace

void say(const std::string& sentence) { std::cerr << "telltale: " + sentence + '\n' << std::flush; }

void finish_recording(const std::vector<RecordedFile>& files, const OutputName& name, const RecordOptions& options,
                      const GlobalOptions& globals) {
  const bool is_only_process =
      std::ranges::all_of(files, [&](const RecordedFile& file) { return file.pid == files.front().pid; });
  std::vector<Recording> recordings;
  std::size_t best = 0;
  for (const RecordedFile& file : files) {
    Recording& recording = recordings.emplace_back(Recording{file, file.path});
    recording.rank = file.rank;
    if (needs_reading(recording, name, options)) read(recording, globals);
    deliver(recording, name.path_of(file.pid, file.cycle, is_only_process), name.extension);
    const std::size_t latest = recordings.size() - 1;
    if (latest == 0) continue;
    const std::size_t worse = is_better(recording, recordings[best]) ? std::exchange(best, latest) : latest;
    recordings[worse].trace.reset();  // one trace in memory at a time
  }
  const Recording& chosen = recordings[best];
  const bool is_diagnosed = !options.only_records && chosen.trace;
  const auto steps = is_diagnosed ? steady_steps(chosen, options) : std::nullopt;
  if (is_diagnosed && chosen.events > 0) print_diagnosis(chosen, steps);
  std::cerr << '\n';
  say_where(recordings, chosen, is_diagnosed);
  if (is_diagnosed && chosen.events == 0) return say("nothing happened in it: no operator ran while it was recorded");
  say_what_next(chosen, steps);
}

}  // namespace telltale::cli
