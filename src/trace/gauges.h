// Gauges: what a device or the processors say of themselves several times a second, as counters whose names begin with
// the device, "GPU 0: power (W)". So they are told apart, and known again, in every format that has counters.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

namespace gauges {
inline constexpr std::string_view kUtilization = "utilization (%)";
inline constexpr std::string_view kMemoryActivity = "memory activity (%)";
inline constexpr std::string_view kMemoryUsed = "memory used (bytes)";
inline constexpr std::string_view kMemoryTotal = "memory total (bytes)";
inline constexpr std::string_view kSmClock = "SM clock (MHz)";
inline constexpr std::string_view kMemoryClock = "memory clock (MHz)";
inline constexpr std::string_view kPower = "power (W)";
inline constexpr std::string_view kPowerLimit = "power limit (W)";
inline constexpr std::string_view kTemperature = "temperature (°C)";
inline constexpr std::string_view kThrottleReasons = "throttle reasons";  // NVML's bit mask
inline constexpr std::string_view kPcieSent = "PCIe sent (bytes/s)";
inline constexpr std::string_view kPcieReceived = "PCIe received (bytes/s)";
inline constexpr std::string_view kNvlinkSent = "NVLink sent (bytes/s)";
inline constexpr std::string_view kNvlinkReceived = "NVLink received (bytes/s)";
inline constexpr std::string_view kEnergy = "energy (J)";  // since the first reading
}  // namespace gauges

struct Gauge {
  std::string_view device;     // "GPU 0", "CPU", "NVML GPU 1" where CUDA's number is not known
  DeviceId device_id = kHost;  // of "GPU 0": 0
  std::string_view quantity;   // one of those above
};

// What a recorder's counter of that category and name is, if it is a gauge.
std::optional<Gauge> gauge_of(std::string_view category, std::string_view name);

// What the counter is called in a trace, and back.
std::string counter_name(const Gauge& gauge);
std::optional<Gauge> gauge_called(std::string_view counter);

// What a series that rises or falls steadily between its readings shows at a time, and the first or last of them
// outside. The series has a reading at least.
double steady_value_at(const Counters& counters, const CounterSeries& series, Nanoseconds time);

}  // namespace telltale
