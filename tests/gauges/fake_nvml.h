// A library with NVML's functions whose devices a test makes up. It is opened as NVML is; control() finds its state. In
// a program that nobody controls it has FAKE_NVML_DEVICES busy devices.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace telltale::fake_nvml {

struct Device {
  bool is_lost = false;  // and answers so
  std::string uuid, name = "NVIDIA H200";
  unsigned utilization = 0, memory_activity = 0;  // percent
  unsigned long long memory_total = 0, memory_used = 0;
  unsigned sm_clock = 0, memory_clock = 0;  // MHz
  unsigned power = 0, power_limit = 0;      // milliwatts
  unsigned temperature = 0;
  unsigned long long throttle_reasons = 0;
  unsigned long long energy = 0;                  // millijoules
  unsigned long long energy_per_reading = 0;      // by which it grows
  std::array<unsigned, 2> pcie = {};              // sent and received, KiB/s
  std::array<unsigned long long, 2> nvlink = {};  // KiB in all
};

struct State {
  std::mutex mutex;  // for all below
  std::vector<Device> devices;
  std::map<std::string, int> results;     // of functions, by name; those not named here succeed
  std::map<std::string, unsigned> calls;  // by name
  int starts = 0;                         // not yet ended
  int opened_by = 0;                      // the thread that started it last
};

// The state of the library that TELLTALE_NVML_LIBRARY names.
inline State& control() {
  void* const library = dlopen(std::getenv("TELLTALE_NVML_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<State* (*)()>(dlsym(library, "fake_nvml_state"))();
}

}  // namespace telltale::fake_nvml
