// What PyTorch's profiler is told to record, as the lines of text that it reads. Pure functions, but for
// has_operators().
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::capture {

// Steps as the profiler counts them: optimizer steps of the process, whatever had happened before.
struct StepWindow {
  int skipped = 0;  // steps that are left alone, those that warm the profiler up included
  int warmup = 0;   // of those, how many the profiler may use to get ready
  int recorded = 1;
};

struct KinetoRequest {
  std::string log_file;             // "/dir/run.json" becomes "/dir/run_<pid>.json"
  std::optional<StepWindow> steps;  // else by time
  std::chrono::milliseconds duration{};
  bool with_shapes = false, with_stacks = false, with_memory = false;
};

std::string configuration_text(const KinetoRequest& request);

// The file that KINETO_CONFIG names, for a process that shall ask every second: what stood in it before, and that.
std::string client_configuration(std::string_view existing_lines);

// Where the profiler writes when it was given `log_file`: it puts the pid before the first ".json" of the whole path.
std::string written_log_file(const std::string& log_file, int pid);

// Whether an operator ran in what the profiler wrote: a trace from before a program begins its work has none, and is
// none. False also when there is no such file.
bool has_operators(const std::string& trace_file);

// True when the profiler takes the path as it stands: it reads lines of KEY=VALUE with comments, trims them, and newer
// versions refuse "..".
bool is_plain_log_file(std::string_view log_file);

}  // namespace telltale::capture
