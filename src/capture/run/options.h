// What is to be recorded: a command that is started, or a process that runs already; how much of it, by which engine,
// and where to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::capture {

enum class Engine {
  kAuto,      // ours where it works, else PyTorch's own profiler
  kTelltale,  // our adapter, brought into the processes
  kKineto,    // PyTorch's own profiler, asked by us
};

// torch.profiler's schedule.
struct Schedule {
  int skip_first = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
};

struct RecordOptions {
  std::vector<std::string> command;  // either this, or
  std::optional<int> pid;            // this
  std::optional<int> steps;          // at most one of these three; none: everything, or what the engine can hold
  std::optional<double> seconds;
  std::optional<Schedule> schedule;
  std::optional<std::uint64_t> memory_limit;  // bytes, in each process
  Engine engine = Engine::kAuto;
  bool with_shapes = true;  // tells what kinds of operators need, and costs little
  bool with_stacks = false, with_memory = false;
  bool with_referrers = false;   // what keeps tensors alive, at the end
  bool with_every_call = false;  // of CUDA's API, not only those that matter
  bool may_overwrite = false;
  bool stops_command = false;  // once all is recorded
  bool pauses = true;          // steps may be left unrecorded, to measure what recording costs
  bool wants_trace = true;     // the recording that says most is read and returned
  std::string output;          // a file or a folder; empty: a file in the current folder, named after the command
};

// --steps N is a schedule, too: one step is left alone, one warms up, N are recorded. (Our adapter: see engine.cpp.)
inline std::optional<Schedule> schedule_of(const RecordOptions& options) {
  if (options.steps) return Schedule{.wait = 1, .warmup = 1, .active = *options.steps, .repeat = 1};
  return options.schedule;
}

}  // namespace telltale::capture
