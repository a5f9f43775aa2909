// telltale record -- COMMAND: records a program that nobody changed, and says why it is slow.
#include "capture/run/record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <system_error>

#include "answers/analyze.h"
#include "answers/out_of_memory.h"
#include "answers/source.h"
#include "base/amounts.h"
#include "base/size_text.h"
#include "base/text_encoding.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"
#include "cli/value_checks.h"
#include "report/analyze_words.h"
#include "report/out_of_memory_words.h"
#include "report/text_width.h"

namespace telltale::cli {
namespace {

using capture::Engine;
using capture::Recorded;
using capture::Recording;
using capture::shown;

constexpr int kMostSteps = 1'000'000;
constexpr double kLeastSeconds = 0.001;
constexpr double kMostSeconds = 1e6;
constexpr int kMostProcesses = 1 << 22;  // Linux numbers no process higher
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

std::string why_not(const capture::RecordOptions& options) {
  if (options.pid && !options.command.empty()) return "give either --pid or a command, not both";
  if (options.pid && options.engine == Engine::kTelltale)
    return "only PyTorch's own profiler can record a process that is already running: use --engine kineto";
  if (options.pid && options.stops_command) return "--stop-when-recorded works with a command, not with --pid";
  if (!options.pid && options.command.empty()) return "say what to run: telltale record -- python train.py";
  if (options.schedule && options.schedule->active == 0)
    return "--active N is missing: it says how many steps to record";
  return {};
}

// ---- Afterwards: the diagnosis, and where everything is ----

// Returns what recording cost, as a sentence without its beginning and end; empty when there is no diagnosis.
std::string print_diagnosis(const Recorded& recorded, answers::AnalyzeRequest request) {
  const int descriptor = isatty(STDOUT_FILENO) != 0 ? STDOUT_FILENO : STDERR_FILENO;
  request.source.path = shown(recorded.recordings[recorded.best].path);
  request.source.trace = recorded.trace;
  const auto answer = answers::analyze(request);
  if (!answer) {
    say(to_string(answer.error()));
    return {};
  }
  const auto printed = print("\n" + answer->terminal(output_style(descriptor)), descriptor);
  if (!printed) say(to_string(printed.error()));
  return recording_cost_text(answer->diagnosis, *answer->trace);
}

std::string size_of(const Recording& recording) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(recording.path, error);
  return error ? "gone" : format_bytes(bytes);
}

std::string line_of(const Recording& recording) {
  std::string line = fmt::format("  {}  {}", shown(recording.path), size_of(recording));
  if (recording.rank) line += fmt::format(", rank {}", *recording.rank);
  line += fmt::format(", process {}", recording.file.pid);
  if (recording.events > 0)
    line += fmt::format(", {} in {}", counted(static_cast<double>(recording.events), "event"),
                        format_time(recording.duration));
  if (recording.events > 0 && recording.operators == 0) line += ", no operators";
  return printable(repaired_utf8(line)) + (recording.file.is_cut_off ? ", cut off" : "");
}

void say_where(const Recorded& recorded) {
  const Recording& best = recorded.recordings[recorded.best];
  if (recorded.recordings.size() == 1) return say(fmt::format("recorded to {} ({})", shown(best.path), size_of(best)));
  say("recorded " + counted(static_cast<double>(recorded.recordings.size()), "file") +
      (recorded.trace ? "; the diagnosis is for " + shown(best.path) : ""));
  for (const Recording& each : recorded.recordings) std::cerr << line_of(each) << '\n';
}

// What to know about the one that is diagnosed, and what to type next.
void say_what_next(const Recording& best) {
  if (best.file.is_cut_off) say("the process ended while it wrote the file; everything before that was read");
  if (best.file.is_stand_in) say("no optimizer step ended in time, so a stretch of time was recorded instead of steps");
  say(fmt::format("next: telltale view {}", shown(best.path)));
}

// First of all, where memory ran out: whoever waits for an answer has just read a traceback.
void say_if_out_of_memory(const Recorded& recorded) {
  if (!recorded.trace) return;
  const std::string what = out_of_memory_text(*recorded.trace);
  if (what.empty()) return;
  say(what);
  if (!recorded.trace->recorded.memory) return say("what held it was not recorded: use telltale record --memory");
  for (const std::string& line : answers::out_of_memory_diagnosis(*recorded.trace)) say(printable(line));
  say(fmt::format("what held it: telltale memory {}", shown(recorded.recordings[recorded.best].path)));
}

void present(const Recorded& recorded, const answers::AnalyzeRequest& request) {
  const Recording& best = recorded.recordings[recorded.best];
  const bool is_empty = recorded.trace && best.events == 0;
  say_if_out_of_memory(recorded);
  std::string cost;
  if (recorded.trace && !is_empty) cost = print_diagnosis(recorded, request);
  std::cerr << '\n';
  say_where(recorded);
  if (is_empty)
    return say(recorded.trace->anomalies.count(Anomaly::kUnfinishedRecording) > 0
                   ? "the recording is empty: the program was ended before anything was written"
                   : "the recording is empty: no operator ran while it was made");
  if (!cost.empty()) say(cost);
  say_what_next(best);
}

Result<std::shared_ptr<const Trace>> trace_of(const std::string& path, const GlobalOptions& globals) {
  auto source = answers::load(shown_while_read({path, {}, {}, {}}, globals));
  if (!source) return std::unexpected(source.error());
  return source->trace;
}

Result<ExitCode> record(capture::RecordOptions options, const answers::AnalyzeRequest& request,
                        const GlobalOptions& globals) {
  options.command = globals.child_command;
  if (const std::string reason = why_not(options); !reason.empty())
    return failure(reason + " (see telltale record --help)");
  const auto recorded =
      capture::record(options, {.say = say, .read = [&](const std::string& path) { return trace_of(path, globals); }});
  if (!recorded) return std::unexpected(recorded.error());
  if (!recorded->recordings.empty()) present(*recorded, request);
  return static_cast<ExitCode>(recorded->exit_code);
}

// ---- Words ----

void declare_schedule(CLI::App& app, capture::RecordOptions& options) {
  const auto steps = app.add_option("--steps", options.steps, "Record N steps, after two that warm up")
                         ->check(number_between(1, kMostSteps))
                         ->type_name("N");
  const auto seconds = app.add_option("--seconds", options.seconds,
                                      "Record S seconds of work, from the first call of a module (telltale) or the "
                                      "first operator (kineto)")
                           ->check(number_between(kLeastSeconds, kMostSeconds))
                           ->excludes(steps)
                           ->type_name("S");
  const auto part = [&](const std::string& name, int capture::Schedule::* member, const std::string& what) {
    app.add_option_function<int>(
           name,
           [&options, member](int count) {
             if (!options.schedule) options.schedule.emplace();
             *options.schedule.*member = count;
           },
           what)
        ->check(number_between(0, kMostSteps))
        ->excludes(steps)
        ->excludes(seconds)
        ->type_name("N");
  };
  part("--skip-first", &capture::Schedule::skip_first,
       "As in torch.profiler.schedule: steps to skip before the first cycle");
  part("--wait", &capture::Schedule::wait, "Steps to skip at the start of each cycle");
  part("--warmup", &capture::Schedule::warmup, "Steps to warm up, recorded and thrown away");
  part("--active", &capture::Schedule::active, "Steps to record");
  part("--repeat", &capture::Schedule::repeat,
       "Cycles to record, each to its own file; 0 means until the end (kineto records one)");
}

void declare_content(CLI::App& app, capture::RecordOptions& options) {
  app.add_flag("--shapes", options.with_shapes, "Record the shapes and types of tensors, as is the default");
  app.add_flag_callback("--no-shapes", [&options] { options.with_shapes = false; }, "Leave them out");
  app.add_flag("--stacks", options.with_stacks, "Record every call of a Python function, not only samples of stacks");
  const auto memory = app.add_flag("--memory", options.with_memory,
                                   "Also record what the allocators do, and which tensors the program holds");
  app.add_flag(
         "--referrers", options.with_referrers,
         "At the end, and a few times before, look for what keeps the tensors alive that no module or optimizer has")
      ->needs(memory);
  app.add_flag("--api", options.with_every_call,
               "Record every call of CUDA's API, not only launches, copies, waits, allocations and events");
  app.add_flag_callback(
      "--no-pauses", [&options] { options.pauses = false; },
      "Leave no steps unrecorded; without them, what recording costs is estimated instead of measured");
  app.add_option_function<std::string>(
         "--memory-limit",
         [&options](const std::string& text) {
           options.memory_limit = parsed_size(text);
           if (!options.memory_limit)
             throw CLI::ValidationError("--memory-limit",
                                        "'" + text + "' is not a size; write 64M or a number of bytes");
         },
         "Memory for events that are not yet written, in each process (64M)")
      ->type_name("SIZE");
  app.add_option_function<std::string>(
         "--engine",
         [&options](const std::string& text) {
           options.engine = text == "telltale" ? Engine::kTelltale : text == "kineto" ? Engine::kKineto : Engine::kAuto;
         },
         "What records: telltale (our adapter, inside the processes), kineto (PyTorch's own profiler) or auto (the "
         "default): telltale, and kineto where that cannot work")
      ->check(one_of({"auto", "telltale", "kineto"}))
      ->type_name("NAME");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<capture::RecordOptions>();
  auto request = std::make_shared<answers::AnalyzeRequest>();  // for the diagnosis
  app.add_option("COMMAND", options->command, "The program to run and record, and its arguments; or use --pid");
  declare_schedule(app, *options);
  declare_content(app, *options);
  app.add_option("-o,--output", options->output,
                 "The file: .tell, .json, .json.gz or .json.zst; with several processes, the pid goes before the "
                 "extension")
      ->type_name("FILE");
  app.add_flag("--force", options->may_overwrite, "Overwrite the file if it exists");
  app.add_flag_callback("--no-analyze", [options] { options->wants_trace = false; }, "Only record; print no diagnosis");
  app.add_option("--price", request->price, "What a kilowatt-hour costs: the diagnosis says what 1,000 steps cost")
      ->check(number_between(0, kNoLimit))
      ->type_name("X");
  app.add_option("--carbon", request->carbon, "Grams of CO2 for a kilowatt-hour: likewise")
      ->check(number_between(0, kNoLimit))
      ->type_name("G");
  app.add_flag("--stop-when-recorded", options->stops_command,
               "End the command (SIGTERM) once the recording is complete; this counts as success");
  app.add_option("--pid", options->pid, "Record a running process that was started with KINETO_USE_DAEMON=1")
      ->check(number_between(1, kMostProcesses))
      ->type_name("PID");
  app.footer(
      "The command keeps its input, output, terminal and exit code. Without --steps or the like, telltale records "
      "everything\nand kineto five steps. The diagnosis follows when the command has ended: on standard output if that "
      "is a terminal,\notherwise on standard error, so that `telltale record -- python train.py > log` keeps the log "
      "clean.\n\n"
      "  telltale record -- python train.py\n"
      "  telltale record --steps 10 --memory -o run.tell -- torchrun --nproc-per-node 2 train.py\n"
      "  telltale record --pid 4711 --seconds 2");
  return [options, request, &globals] { return record(*options, *request, globals); };
}

}  // namespace

const Command commands::record = {"record", "Run a program and record it, then say why it is slow", declare};

}  // namespace telltale::cli
