// Gauges that the command itself reads while PyTorch's profiler records a process, which knows nothing of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telltale::capture {

// Which devices a process has: as its environment says, nothing where a variable is not set.
struct DeviceVariables {
  std::optional<std::string> visible, order;  // CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER

  static DeviceVariables of_this_process();
  static DeviceVariables of(int pid);
};

struct GaugeReading {
  std::int64_t time_ns = 0;  // of the wall clock
  std::string counter;       // "GPU 0: power (W)"
  double value = 0;
};

// Reads from when it is made until it is asked for what it has read. It has nothing where there is nothing to read.
class GaugeLog {
 public:
  explicit GaugeLog(const DeviceVariables& variables);
  ~GaugeLog();
  GaugeLog(const GaugeLog&) = delete;
  GaugeLog& operator=(const GaugeLog&) = delete;

  // In the order of time; the last million of them, which is some hours.
  std::vector<GaugeReading> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace telltale::capture
