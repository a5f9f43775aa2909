// Reads gauges of devices and processors on a thread of its own, some times a second.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <string>

#include "capture/nvml/nvml_gauges.h"
#include "capture/rapl/rapl_energy.h"

namespace telltale::capture {

struct GaugeChoice {
  double hertz = 10;
  bool nvml = true, rapl = true;
  std::string rapl_folder = "/sys/class/powercap";
  // CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of whose devices are read; nothing: it is not set.
  std::optional<std::string> visible_devices, device_order;
  // Whether anybody wants the values now; null: always. While nobody does, gauges are read once a minute.
  bool (*is_wanted)() = nullptr;
};

// All of it for one thread, but for emit(), which runs on the sampler's, with all signals blocked.
class GaugeSampler {
 public:
  using Emit = NvmlGauges::Emit;

  // Null where there is nothing to read, or no thread: `why` says so.
  static std::unique_ptr<GaugeSampler> start(const GaugeChoice& choice, Emit emit, std::string& why);

  // Ends the thread: at once, or after what NVML waits for. A thread that NVML keeps for more than two seconds is left
  // alone with all it has.
  static void stop(std::unique_ptr<GaugeSampler> sampler);

  ~GaugeSampler();
  GaugeSampler(const GaugeSampler&) = delete;
  GaugeSampler& operator=(const GaugeSampler&) = delete;

 private:
  GaugeSampler(const GaugeChoice& choice, Emit emit);
  static void* run(void* self);
  void sample();
  void read(std::int64_t now);
  bool wait(std::int64_t nanoseconds);

  GaugeChoice choice_;
  Emit emit_;
  std::unique_ptr<NvmlGauges> nvml_;
  std::unique_ptr<RaplEnergy> rapl_;
  pthread_t thread_ = {};
  pthread_mutex_t mutex_;
  pthread_cond_t ended_;
  bool is_ending_ = false;  // under the mutex
};

}  // namespace telltale::capture
