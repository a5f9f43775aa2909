// telltale record -- COMMAND: records a program that nobody changed, and says why it is slow.
#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

#include "cli/command.h"
#include "cli/record_engine.h"
#include "cli/record_options.h"
#include "cli/record_output.h"
#include "cli/record_process.h"
#include "cli/record_results.h"
#include "cli/record_session.h"
#include "cli/size_text.h"

namespace telltale::cli {
namespace {

constexpr int kMostSteps = 1'000'000;

std::string stem_of_now(const std::vector<std::string>& command) {
  const std::time_t seconds = std::time(nullptr);
  std::tm now{};
  localtime_r(&seconds, &now);
  return default_stem(command, now);
}

Result<OutputName> free_output_name(const RecordOptions& options, Engine engine) {
  const std::string stem = options.pid ? fmt::format("telltale_{}", *options.pid) : stem_of_now(options.command);
  auto name = output_name(options.output, stem, engine == Engine::kTelltale ? ".tell" : ".json");
  std::error_code error;
  if (name && !options.may_overwrite && std::filesystem::exists(name->path(), error))
    return failure("there is such a file; give -o another name, or --force", name->path());
  if (name && name->path().string().find('%') != std::string::npos)
    return failure("a recording's path must not have % in it", name->path());
  return name;
}

std::string why_not(const RecordOptions& options) {
  if (options.pid && !options.command.empty()) return "give either --pid or a command";
  if (options.pid && options.engine == Engine::kTelltale)
    return "a process that runs already is recorded by PyTorch's own profiler: --engine kineto";
  if (options.pid && options.stops_command) return "--stop-when-recorded is for a command, not for --pid";
  if (!options.pid && options.command.empty()) return "say what to run: telltale record -- python train.py";
  if (options.schedule && options.schedule->active == 0) return "--active N is missing: how many steps to record";
  return {};
}

Result<ExitCode> record_child(const RecordOptions& options, const GlobalOptions& globals) {
  const EngineChoice choice = chosen_engine(options.engine, has_visible_gpu(), python_folder());
  if (options.engine == Engine::kTelltale && choice.engine != Engine::kTelltale) return failure(choice.reason);
  const auto name = free_output_name(options, choice.engine);
  if (!name) return std::unexpected(name.error());
  const WorkFolder work;
  if (work.path().empty()) return failure("no temporary folder could be made in /tmp");
  if (!choice.reason.empty()) say(choice.reason);
  if (options.stops_command && choice.engine == Engine::kTelltale && !schedule_of(options) && !options.seconds)
    return failure("--stop-when-recorded needs --steps, --seconds or --active: without them all of it is recorded");

  const auto outcome = record_command(options, choice, *name, work);
  if (!outcome) {
    say(outcome.error().sentence);
    return static_cast<ExitCode>(outcome.error().exit_code);
  }
  if (outcome->ending.signal != 0 && !outcome->was_stopped_by_us)
    say(fmt::format("the command was ended by signal {} ({})", outcome->ending.signal,
                    strsignal(outcome->ending.signal)));
  if (outcome->files.empty()) {
    say(outcome->why_nothing);
  } else {
    finish_recording(outcome->files, *name, options, globals);
  }
  return outcome->was_stopped_by_us && outcome->ending.signal == SIGTERM
             ? kDone
             : static_cast<ExitCode>(outcome->ending.exit_code);
}

Result<ExitCode> record(RecordOptions options, const GlobalOptions& globals) {
  options.command = globals.child_command;
  if (const std::string reason = why_not(options); !reason.empty())
    return failure(reason + " (see telltale record --help)");
  if (!options.pid) return record_child(options, globals);
  const auto name = free_output_name(options, Engine::kKineto);
  if (!name) return std::unexpected(name.error());
  return record_process(options, *name, globals);
}

void declare_schedule(CLI::App& app, RecordOptions& options) {
  const auto steps =
      app.add_option("--steps", options.steps, "Record N steps, after one that is left alone and one to warm up")
          ->check(CLI::Range(1, kMostSteps))
          ->type_name("N");
  const auto seconds = app.add_option("--seconds", options.seconds,
                                      "Record for S seconds, from the import of torch or the first operator on")
                           ->check(CLI::Range(0.001, 1e6))
                           ->excludes(steps)
                           ->type_name("S");
  const auto part = [&](const std::string& name, int Schedule::* member, const std::string& what) {
    app.add_option_function<int>(
           name,
           [&options, member](int count) {
             if (!options.schedule) options.schedule.emplace();
             *options.schedule.*member = count;
           },
           what)
        ->check(CLI::Range(0, kMostSteps))
        ->excludes(steps)
        ->excludes(seconds)
        ->type_name("N");
  };
  part("--skip-first", &Schedule::skip_first, "As in torch.profiler.schedule: steps to leave alone before all else");
  part("--wait", &Schedule::wait, "Steps to leave alone at the start of each cycle");
  part("--warmup", &Schedule::warmup, "Steps to warm up, recorded and thrown away");
  part("--active", &Schedule::active, "Steps to record");
  part("--repeat", &Schedule::repeat, "Cycles, each a file of its own; 0 is until the end. kineto records one");
}

void declare_content(CLI::App& app, RecordOptions& options) {
  app.add_flag("--shapes", options.with_shapes, "Also record shapes and types of tensors");
  app.add_flag("--stacks", options.with_stacks, "Also record calls of Python functions");
  app.add_flag("--memory", options.with_memory, "Also record allocations");
  app.add_option_function<std::string>(
         "--memory-limit",
         [&options](const std::string& text) {
           options.memory_limit = parsed_size(text);
           if (!options.memory_limit)
             throw CLI::ValidationError("--memory-limit", "'" + text + "' is no size; write 64M or a number of bytes");
         },
         "Memory for what is recorded and not yet written, in each process (64M)")
      ->type_name("SIZE");
  app.add_option_function<std::string>(
         "--engine",
         [&options](const std::string& text) {
           options.engine = text == "telltale" ? Engine::kTelltale : text == "kineto" ? Engine::kKineto : Engine::kAuto;
         },
         "What records: telltale, our adapter in the processes; kineto, PyTorch's own profiler; auto (as if not given) "
         "takes kineto where there is a GPU of NVIDIA's")
      ->check(CLI::IsMember({"auto", "telltale", "kineto"}))
      ->type_name("NAME");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<RecordOptions>();
  app.add_option("COMMAND", options->command, "The program to run and record, with all its words; or --pid");
  declare_schedule(app, *options);
  declare_content(app, *options);
  app.add_option("-o,--output", options->output,
                 "The file: .tell, .json, .json.gz or .json.zst; with several processes, the pid stands before the "
                 "ending")
      ->type_name("FILE");
  app.add_flag("--force", options->may_overwrite, "Overwrite the file where there is one");
  app.add_flag("--no-analyze", options->only_records, "Only record; print no diagnosis");
  app.add_flag("--stop-when-recorded", options->stops_command,
               "End the command (SIGTERM) once the recording is complete; that counts as success");
  app.add_option("--pid", options->pid, "Record a process that runs with KINETO_USE_DAEMON=1 in its environment")
      ->check(CLI::Range(1, 1 << 22))
      ->type_name("PID");
  app.footer(
      "The command keeps its input, output, terminal and exit code. Without --steps and the like, everything is "
      "recorded\nby telltale, and five steps by kineto. The diagnosis follows when the command has ended: on standard "
      "output if that\nis a terminal, else on standard error, so that `telltale record -- python train.py > log` keeps "
      "the log clean.\n\n"
      "  telltale record -- python train.py\n"
      "  telltale record --steps 10 --shapes -o run.tell -- torchrun --nproc-per-node 2 train.py\n"
      "  telltale record --pid 4711 --seconds 2");
  return [options, &globals] { return record(*options, globals); };
}

}  // namespace

const Command kRecordCommand = {"record", "Run a program and record it, then say why it is slow", declare};

}  // namespace telltale::cli
