#include "capture/nvml/nvml_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

namespace telltale::capture::nvml {
namespace {

// The first of the names that the library has: newer ones come first.
template <typename... Arguments>
void find(void* library, Function<Arguments...>& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    function.set(dlsym(library, name));
    if (function) return;
  }
}

}  // namespace

std::unique_ptr<Library> Library::open(std::string& why) {
  const char* const named = secure_getenv("TELLTALE_NVML_LIBRARY");
  void* const handle = dlopen(named != nullptr ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = "no NVIDIA driver was found (libnvidia-ml.so.1)";
    return nullptr;
  }
  auto library = std::make_unique<Library>();
  find(handle, library->init, {"nvmlInit_v2"});
  find(handle, library->shutdown, {"nvmlShutdown"});
  find(handle, library->device_count, {"nvmlDeviceGetCount_v2"});
  find(handle, library->device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(handle, library->uuid, {"nvmlDeviceGetUUID"});
  find(handle, library->name, {"nvmlDeviceGetName"});
  find(handle, library->utilization, {"nvmlDeviceGetUtilizationRates"});
  find(handle, library->memory, {"nvmlDeviceGetMemoryInfo"});
  find(handle, library->clock, {"nvmlDeviceGetClockInfo"});
  find(handle, library->power, {"nvmlDeviceGetPowerUsage"});
  find(handle, library->power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(handle, library->temperature, {"nvmlDeviceGetTemperature"});
  find(handle, library->throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(handle, library->energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(handle, library->pcie, {"nvmlDeviceGetPcieThroughput"});
  find(handle, library->fields, {"nvmlDeviceGetFieldValues"});
  return library;
}

}  // namespace telltale::capture::nvml
