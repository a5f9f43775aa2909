// What NVIDIA's devices say of themselves: utilization, memory, clocks, power, temperature, why clocks are low, what
// goes over PCIe and NVLink, and the energy used.
//
// A value that a device does not have is asked for once. A device that falls off the bus says nothing from then on.
// For one thread at a time; a reading asks the driver a dozen times, at some microseconds to a millisecond each, and
// once waits 20 ms for a throughput of PCIe: one of one device, each about once a second.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/nvml/nvml_library.h"

namespace telltale::capture {

class NvmlGauges {
 public:
  using Emit = std::function<void(const char* device, const char* gauge, double value)>;

  // Whether NVML is there, at the price of loading it. What opening takes, tenths of a second at times, is yet to come.
  static bool is_there(std::string& why) { return nvml::Library::open(why) != nullptr; }

  // Of the devices that CUDA shows to a process with these variables, null where one is not set: see visible_devices.h.
  // "GPU 0" is its device 0; "NVML GPU 1" is one whose number in CUDA cannot be told. Null where there are none: `why`
  // says so.
  static std::unique_ptr<NvmlGauges> open(const char* cuda_visible_devices, const char* cuda_device_order,
                                          std::string& why);
  ~NvmlGauges();
  NvmlGauges(const NvmlGauges&) = delete;
  NvmlGauges& operator=(const NvmlGauges&) = delete;

  // `now` is any clock's, in nanoseconds, that goes on steadily.
  void read(std::int64_t now, const Emit& emit);

  // Whether a device is left to read.
  bool has_devices() const;

 private:
  enum Quantity : std::uint8_t {
    kUtilization,
    kMemory,
    kSmClock,
    kMemoryClock,
    kPower,
    kPowerLimit,
    kTemperature,
    kThrottleReasons,
    kEnergy,
    kNvlink,
    kPcieSent,
    kPcieReceived,
    kQuantities
  };
  struct Device {
    nvml::Device handle = nullptr;
    std::string label;
    bool is_lost = false;
    std::array<std::uint8_t, kQuantities> failures = {};          // in a row
    std::optional<unsigned long long> last_energy;                // millijoules, by the device's counter
    unsigned long long used_energy = 0;                           // since the first reading
    std::array<std::optional<unsigned long long>, 2> nvlink_kib;  // sent and received, at nvlink_time
    std::int64_t nvlink_time = 0;
  };
  struct PcieReading {
    std::size_t device = 0;
    bool is_sent = false;
    std::optional<std::int64_t> time;  // of the last
  };

  explicit NvmlGauges(std::unique_ptr<nvml::Library> library) : library_(std::move(library)) {}
  void read(Device& device, std::int64_t now, const Emit& emit);
  void read_nvlink(Device& device, std::int64_t now, const Emit& emit);
  void read_pcie(std::int64_t now, const Emit& emit);
  template <typename Ask>
  bool ask(Device& device, Quantity quantity, Ask ask);

  std::unique_ptr<nvml::Library> library_;
  std::vector<Device> devices_;
  std::vector<PcieReading> pcie_;
};

}  // namespace telltale::capture
