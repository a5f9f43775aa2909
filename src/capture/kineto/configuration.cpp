#include "capture/kineto/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace telltale::capture {
namespace {

// Iteration n of the profiler's ends with optimizer step n, counted from zero; recording begins there.
std::string step_lines(const StepWindow& steps) {
  return fmt::format(
      "PROFILE_START_ITERATION={}\n"
      "PROFILE_START_ITERATION_ROUNDUP=1\n"
      "ACTIVITIES_WARMUP_ITERATIONS={}\n"
      "ACTIVITIES_ITERATIONS={}\n"
      // Newer versions take a request that also has a duration, and half a second is the default, for one by time
      // when no step has ended yet.
      "ACTIVITIES_DURATION_MSECS=0\n",
      std::max(steps.skipped - 1, 0), steps.warmup, steps.recorded);
}

// 0: as soon as possible, which is two seconds after the request.
std::string time_lines(std::chrono::milliseconds duration) {
  return fmt::format(
      "PROFILE_START_TIME=0\n"
      "ACTIVITIES_WARMUP_PERIOD_SECS=0\n"
      "ACTIVITIES_DURATION_MSECS={}\n",
      duration.count());
}

std::string switch_line(std::string_view key, bool is_on) { return fmt::format("{}={}\n", key, is_on); }

}  // namespace

std::string configuration_text(const KinetoRequest& request) {
  return fmt::format("ACTIVITIES_LOG_FILE={}\n", request.log_file) +
         (request.steps ? step_lines(*request.steps) : time_lines(request.duration)) +
         switch_line("PROFILE_REPORT_INPUT_SHAPES", request.with_shapes) +
         switch_line("PROFILE_PROFILE_MEMORY", request.with_memory) +
         switch_line("PROFILE_WITH_STACK", request.with_stacks) +
         switch_line("PROFILE_WITH_MODULES", request.with_stacks);
}

std::string client_configuration(std::string_view existing_lines) {
  std::string text(existing_lines);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n";
}

std::string written_log_file(const std::string& log_file, int pid) {
  std::string path = log_file;
  const std::size_t ending = path.find(".json");
  if (ending != std::string::npos) path.insert(ending, fmt::format("_{}", pid));
  return path;
}

bool has_operators(const std::string& trace_file) {
  constexpr std::string_view kMark = "\"cpu_op\"";
  std::ifstream file(trace_file, std::ios::binary);
  std::string text(1 << 16, '\0');
  std::size_t kept = 0;  // of the end of the part before, where a mark may have begun
  while (file) {
    file.read(text.data() + kept, static_cast<std::streamsize>(text.size() - kept));
    const std::string_view part(text.data(), kept + static_cast<std::size_t>(file.gcount()));
    if (part.find(kMark) != std::string_view::npos) return true;
    kept = std::min(part.size(), kMark.size() - 1);
    std::memmove(text.data(), part.data() + part.size() - kept, kept);
  }
  return false;
}

bool is_plain_log_file(std::string_view log_file) {
  const bool has_odd_characters = log_file.find_first_of("=#\n\r") != std::string_view::npos;
  const bool ends_in_space = log_file.find_last_of(" \t") == log_file.size() - 1;
  return log_file.starts_with('/') && log_file.ends_with(".json") && log_file.find(".json") == log_file.size() - 5 &&
         log_file.find("..") == std::string_view::npos && !has_odd_characters && !ends_in_space;
}

}  // namespace telltale::capture
