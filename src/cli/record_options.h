// What `telltale record` was asked to do, as its words say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::cli {

enum class Engine {
  kAuto,      // ours, unless there is a GPU, which PyTorch's own profiler can record
  kTelltale,  // our adapter, brought into the processes
  kKineto,    // PyTorch's own profiler, asked by us
};

// torch.profiler's schedule.
struct Schedule {
  int skip_first = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
};

struct RecordOptions {
  std::vector<std::string> command;
  std::optional<int> pid;
  std::optional<int> steps;
  std::optional<double> seconds;
  std::optional<Schedule> schedule;
  std::optional<std::uint64_t> memory_limit;
  Engine engine = Engine::kAuto;
  bool with_shapes = false, with_stacks = false, with_memory = false;
  bool only_records = false, may_overwrite = false, stops_command = false;
  std::string output;
};

// --steps N is a schedule, too: one step is left alone, one warms up, N are recorded.
inline std::optional<Schedule> schedule_of(const RecordOptions& options) {
  if (options.steps) return Schedule{.wait = 1, .warmup = 1, .active = *options.steps, .repeat = 1};
  return options.schedule;
}

}  // namespace telltale::cli
