// Reads gauges of devices and processors on a thread of its own, some times a second.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/nvml/nvml_gauges.h"
#include "capture/rapl/rapl_energy.h"

namespace telltale::capture {

// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of whose devices are read; nothing: it is not set.
struct DeviceNumbering {
  std::optional<std::string> visible_devices, device_order;
};

struct GaugeChoice {
  double hertz = 10;
  bool rapl = true;
  std::string rapl_folder = "/sys/class/powercap";
  std::optional<DeviceNumbering> nvml = DeviceNumbering();  // nothing: its devices are not read
  // Whether anybody wants the values now; null: always. While nobody does, gauges are read once a minute.
  bool (*is_wanted)() = nullptr;
};

// All of it for one thread, but for emit(), which runs on the sampler's, with all signals blocked.
class GaugeSampler {
 public:
  using Emit = NvmlGauges::Emit;

  // Null where there is nothing to read, or no thread: `why` says so. NVML is opened on the sampler's thread, and where
  // it has no devices after all, they are left out.
  static std::unique_ptr<GaugeSampler> start(const GaugeChoice& choice, Emit emit, std::string& why);

  // From here on NVML's devices are read as well. False where NVML is not there.
  bool add_nvml(const DeviceNumbering& numbering, std::string& why);
  // Whether it was asked to read them.
  bool has_nvml() const { return has_nvml_; }

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
  bool open_what_was_added();
  void read(std::int64_t now);
  bool wait(std::int64_t nanoseconds);

  GaugeChoice choice_;
  Emit emit_;
  bool has_nvml_ = false;
  std::unique_ptr<NvmlGauges> nvml_;  // the sampler's thread alone has it
  std::unique_ptr<RaplEnergy> rapl_;
  pthread_t thread_ = {};
  pthread_mutex_t mutex_;
  pthread_cond_t changed_;
  std::optional<DeviceNumbering> added_;  // NVML's devices that are yet to be opened; under the mutex
  bool is_ending_ = false;                // likewise
};

}  // namespace telltale::capture
