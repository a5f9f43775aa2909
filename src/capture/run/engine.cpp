#include "capture/run/engine.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "capture/kineto/configuration.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

// PyTorch's profiler starts and stops in the middle of an optimizer's step, so that n of its steps hold n - 1 that are
// whole.
constexpr int kOneMore = 1;
// It keeps everything in memory until it writes, so that it gets a few steps where nothing else is
// said.
constexpr StepWindow kDefaultSteps = {.skipped = 4, .warmup = 2, .recorded = 5 + kOneMore};
// Steps before those that it warms up in, for what a step takes without it: it stays slower once it has recorded.
constexpr int kMeasuredSteps = 7;
constexpr std::chrono::milliseconds kDefaultDuration{3000};

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool has_package(const fs::path& folder) {
  std::error_code error;
  return fs::exists(injection_folder(folder) / "sitecustomize.py", error);
}

// In its warm-up the profiler is at work already, and in the step before it, it may be about to.
int warmup_of(const CapturePlan& plan) { return plan.steps ? plan.steps->warmup + 1 : 1; }

}  // namespace

std::optional<fs::path> python_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {fs::path(variable("TELLTALE_PYTHON")), program / "../..", program / "../python",
                                 program / "../share/telltale/python"})
    if (!folder.empty() && has_package(folder)) return fs::canonical(folder, error);
  return std::nullopt;
}

EngineChoice chosen_engine(Engine wanted, const std::optional<fs::path>& python, bool can_inject) {
  if (wanted == Engine::kKineto) return {Engine::kKineto, python.value_or(fs::path()), {}};
  if (python) return {Engine::kTelltale, *python, {}};
  const bool is_for_native_programs = wanted == Engine::kTelltale && can_inject;
  return {is_for_native_programs ? Engine::kTelltale : Engine::kKineto,
          {},
          "the Python package telltale is not installed beside this program (TELLTALE_PYTHON can name its folder)"};
}

namespace {

// By us, the two steps before the N are recorded as well, and left out by the analysis as those of any recording from
// the start: so a program whose steps nobody finds, or which has fewer, is recorded all the same.
std::optional<Schedule> our_schedule(const RecordOptions& options) {
  constexpr int kWarmupSteps = 2;
  if (options.steps) return Schedule{.active = *options.steps + kWarmupSteps, .repeat = 1};
  return options.schedule;
}

}  // namespace

Attachment attachment_for(const RecordOptions& options, const fs::path& file, const EngineChoice& choice,
                          const fs::path& marks) {
  return {.engine = choice.engine == Engine::kKineto      ? "kineto"
                    : options.engine == Engine::kTelltale ? "telltale"
                                                          : "auto",
          .path = file.string() + "_%p.tell",
          .package = choice.python,
          .marks = marks,
          .schedule = our_schedule(options),
          .seconds = options.seconds,
          .shapes = options.with_shapes,
          .stacks = options.with_stacks,
          .memory = options.with_memory,
          .referrers = options.with_referrers,
          .api = options.with_every_call,
          .memory_limit = options.memory_limit,
          .pauses = options.pauses,
          .native = options.engine != Engine::kKineto,
          .warmup = warmup_of(capture_plan(options, {}))};
}

std::string kineto_log_file(const fs::path& file, const fs::path& work) {
  const std::string wanted = file.string() + ".json";
  return is_plain_log_file(wanted) ? wanted : (work / "trace.json").string();
}

CapturePlan capture_plan(const RecordOptions& options, const std::string& log_file) {
  CapturePlan plan;
  plan.log_file = log_file;
  plan.with_shapes = options.with_shapes;
  plan.with_stacks = options.with_stacks;
  plan.with_memory = options.with_memory;
  if (options.seconds) {
    plan.duration = std::chrono::milliseconds(std::llround(*options.seconds * 1000));
  } else if (const auto schedule = schedule_of(options)) {
    const int skipped = schedule->skip_first + schedule->wait + schedule->warmup;
    plan.steps = StepWindow{skipped, schedule->warmup, schedule->active + kOneMore};
  } else {
    plan.steps = kDefaultSteps;
    plan.duration = kDefaultDuration;
  }
  if (plan.steps && options.pauses && !options.schedule && !options.pid) plan.steps->skipped += kMeasuredSteps;
  return plan;
}

std::vector<std::string> kineto_variables(const fs::path& work, const std::string& log_file,
                                          const fs::path& configuration) {
  std::vector<std::string> variables = {"KINETO_IPC_SOCKET_DIR=" + work.string(),
                                        "KINETO_CONFIG=" + configuration.string(),
                                        // Without it, newer versions write nowhere but below /tmp.
                                        "KINETO_ONDEMAND_TRACE_DIR=" + fs::path(log_file).parent_path().string()};
  // 4: errors. It says that it asks for work, on a standard error that is not ours.
  if (variable("KINETO_LOG_LEVEL").empty()) variables.emplace_back("KINETO_LOG_LEVEL=4");
  return variables;
}

std::optional<std::string> variable_of(int pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0'))
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return std::nullopt;
}

void write_client_configuration(const fs::path& path) {
  const std::string own = variable("KINETO_CONFIG");
  std::ifstream existing(own.empty() ? "/etc/libkineto.conf" : own);
  const std::string lines{std::istreambuf_iterator<char>(existing), std::istreambuf_iterator<char>()};
  std::ofstream(path) << client_configuration(lines);
}

}  // namespace telltale::capture
