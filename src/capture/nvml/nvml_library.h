// The functions of NVML that gauges need, found in the driver's library at run time.
//
// Declared here as NVIDIA documents them ("NVML API Reference"); the names are NVML's with its prefix left out. A
// function that the library does not have says so by its result, as one does that the device does not support.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace telltale::capture::nvml {

enum class Result : std::int32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kDriverNotLoaded = 9,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kLibraryMismatch = 18,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kGpuNotFound = 28,
};

using Device = struct NvmlDevice*;

enum class Clock : std::int32_t { kMultiprocessor = 1, kMemory = 2 };
enum class PcieCounter : std::int32_t { kSent = 0, kReceived = 1 };
enum class Sensor : std::int32_t { kGpu = 0 };

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct Memory {
  unsigned long long total, free, used;  // bytes; used: with what the driver keeps for itself
};

enum class ValueType : std::int32_t { kDouble = 0, kUnsigned = 1, kUnsignedLong = 2, kUnsignedLongLong = 3 };

// nvmlFieldValue_t: what a field has, by number.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long time_us, latency_us;
  ValueType type;
  Result result;
  union {
    double real;
    unsigned number;
    unsigned long long large;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

inline constexpr unsigned kNvlinkSentKib = 138, kNvlinkReceivedKib = 139;  // of data, since the driver was loaded
inline constexpr unsigned kAllLinks = 0xFFFFFFFF;

template <typename... Arguments>
class Function {
 public:
  Result operator()(Arguments... arguments) const {
    return address_ == nullptr ? Result::kFunctionNotFound : address_(arguments...);
  }
  explicit operator bool() const { return address_ != nullptr; }
  void set(void* address) { address_ = reinterpret_cast<Result (*)(Arguments...)>(address); }

 private:
  Result (*address_)(Arguments...) = nullptr;
};

struct Library {
  Function<> init, shutdown;
  Function<unsigned*> device_count;
  Function<unsigned, Device*> device_by_index;
  Function<Device, char*, unsigned> uuid, name;
  Function<Device, Utilization*> utilization;
  Function<Device, Memory*> memory;
  Function<Device, Clock, unsigned*> clock;                // MHz
  Function<Device, unsigned*> power, power_limit;          // milliwatts
  Function<Device, Sensor, unsigned*> temperature;         // °C
  Function<Device, unsigned long long*> throttle_reasons;  // a bit mask
  Function<Device, unsigned long long*> energy;            // millijoules since the driver was loaded
  Function<Device, PcieCounter, unsigned*> pcie;           // KiB/s over 20 ms, for which it waits
  Function<Device, int, FieldValue*> fields;

  // The driver's, or what TELLTALE_NVML_LIBRARY names; it stays loaded. Null where there is none: `why` says so.
  static std::unique_ptr<Library> open(std::string& why);
};

}  // namespace telltale::capture::nvml
