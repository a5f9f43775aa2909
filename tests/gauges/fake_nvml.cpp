#include "fake_nvml.h"

#include <unistd.h>

#include <cstring>

#include "capture/nvml/nvml_library.h"

using namespace telltale::capture::nvml;
using telltale::fake_nvml::State;

namespace {

// What a program gets that nobody controls.
telltale::fake_nvml::Device busy_device() {
  telltale::fake_nvml::Device device;
  device.utilization = 90;
  device.power = 500'000;
  device.power_limit = 700'000;
  device.memory_total = 80'000'000'000;
  device.memory_used = 20'000'000'000;
  device.energy_per_reading = 50'000;
  return device;
}

State& state() {
  static State* const made = [] {
    auto* const state = new State;
    if (const char* const devices = std::getenv("FAKE_NVML_DEVICES"))
      state->devices.resize(std::strtoul(devices, nullptr, 10), busy_device());
    return state;
  }();
  return *made;
}

telltale::fake_nvml::Device& at(Device handle) { return state().devices[reinterpret_cast<std::uintptr_t>(handle) - 1]; }

// Counts a call, and answers it unless the test has another result for it.
template <typename Answer>
Result call(const char* function, Answer answer) {
  const std::lock_guard lock(state().mutex);
  ++state().calls[function];
  if (const auto result = state().results.find(function); result != state().results.end())
    return static_cast<Result>(result->second);
  answer();
  return Result::kSuccess;
}

template <typename Answer>
Result ask(const char* function, Device device, Answer answer) {
  bool is_lost = false;
  const Result result = call(function, [&] {
    is_lost = at(device).is_lost;
    if (!is_lost) answer();
  });
  return is_lost ? Result::kGpuIsLost : result;
}

void put(char* text, unsigned size, const std::string& value) {
  std::strncpy(text, value.c_str(), size - 1);
  text[size - 1] = '\0';
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVML's own names
extern "C" {

State* fake_nvml_state() { return &state(); }

Result nvmlInit_v2() {
  return call("init", [] {
    ++state().starts;
    state().opened_by = gettid();
  });
}
Result nvmlShutdown() {
  return call("shutdown", [] { --state().starts; });
}
Result nvmlDeviceGetCount_v2(unsigned* count) {
  return call("count", [&] { *count = static_cast<unsigned>(state().devices.size()); });
}
Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return call("handle", [&] { *device = reinterpret_cast<Device>(std::uintptr_t{index} + 1); });
}
Result nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  return ask("uuid", device, [&] { put(text, size, at(device).uuid); });
}
Result nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return ask("memory", device, [&] {
    *memory = {at(device).memory_total, at(device).memory_total - at(device).memory_used, at(device).memory_used};
  });
}
Result nvmlDeviceGetPowerUsage(Device device, unsigned* value) {
  return ask("power", device, [&] { *value = at(device).power; });
}
#ifndef FAKE_OLD_NVML
Result nvmlDeviceGetName(Device device, char* text, unsigned size) {
  return ask("name", device, [&] { put(text, size, at(device).name); });
}
Result nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return ask("utilization", device, [&] { *utilization = {at(device).utilization, at(device).memory_activity}; });
}
Result nvmlDeviceGetClockInfo(Device device, Clock clock, unsigned* value) {
  const bool is_memory = clock == Clock::kMemory;
  return ask(is_memory ? "memory clock" : "SM clock", device,
             [&] { *value = is_memory ? at(device).memory_clock : at(device).sm_clock; });
}
Result nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* value) {
  return ask("power limit", device, [&] { *value = at(device).power_limit; });
}
Result nvmlDeviceGetTemperature(Device device, Sensor, unsigned* value) {
  return ask("temperature", device, [&] { *value = at(device).temperature; });
}
Result nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* value) {
  return ask("throttle reasons", device, [&] { *value = at(device).throttle_reasons; });
}
Result nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* value) {
  return ask("energy", device, [&] {
    *value = at(device).energy;
    at(device).energy += at(device).energy_per_reading;
  });
}
Result nvmlDeviceGetPcieThroughput(Device device, PcieCounter counter, unsigned* value) {
  return ask("pcie", device, [&] { *value = at(device).pcie[static_cast<std::size_t>(counter)]; });
}
Result nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  return ask("fields", device, [&] {
    for (int i = 0; i < count; ++i) {
      values[i].type = ValueType::kUnsignedLongLong;
      values[i].result = values[i].scope == kAllLinks ? Result::kSuccess : Result::kInvalidArgument;
      values[i].value.large = at(device).nvlink[values[i].field == kNvlinkSentKib ? 0 : 1];
    }
  });
}
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
