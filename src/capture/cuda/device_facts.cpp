#include "capture/cuda/device_facts.h"

#include <string_view>

namespace telltale::capture {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (static_cast<unsigned char>(letter) >= ' ') result += letter;
  }
  return result + '"';
}

}  // namespace

std::vector<DeviceFacts> device_facts(const CudaDriver& driver) {
  std::vector<DeviceFacts> devices;
  int count = 0;
  if (driver.DeviceGetCount(&count) != CUDA_SUCCESS) return devices;
  for (int number = 0; number < count; ++number) {
    CUdevice device{};
    if (driver.DeviceGet(&device, number) != CUDA_SUCCESS) return devices;
    const auto attribute = [&](CUdevice_attribute which) {
      int value = 0;
      return driver.DeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
    };
    DeviceFacts facts;
    char name[256] = "";
    if (driver.DeviceGetName(name, sizeof name, device) == CUDA_SUCCESS) facts.name = name;
    driver.DeviceTotalMem(&facts.memory_bytes, device);
    facts.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    facts.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    facts.threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    facts.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    facts.shared_memory_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    facts.shared_memory_per_block_at_most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    facts.limits = {.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                    .warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                    .threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
                    .blocks = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                    .registers = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
                    .shared_memory = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                    .reserved_shared_memory = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)};
    devices.push_back(std::move(facts));
  }
  return devices;
}

std::string properties_json(const std::vector<DeviceFacts>& devices) {
  std::string json = "[";
  for (std::size_t id = 0; id < devices.size(); ++id) {
    const DeviceFacts& device = devices[id];
    const auto number = [&](const char* name, std::size_t value) {
      json += std::string(", \"") + name + "\": " + std::to_string(value);
    };
    json += (id == 0 ? "{\"id\": " : ", {\"id\": ") + std::to_string(id) + ", \"name\": " + quoted(device.name);
    number("totalGlobalMem", device.memory_bytes);
    number("computeMajor", static_cast<std::size_t>(device.compute_major));
    number("computeMinor", static_cast<std::size_t>(device.compute_minor));
    number("maxThreadsPerBlock", static_cast<std::size_t>(device.threads_per_block));
    number("maxThreadsPerMultiprocessor", static_cast<std::size_t>(device.limits.threads));
    number("regsPerBlock", static_cast<std::size_t>(device.registers_per_block));
    number("warpSize", static_cast<std::size_t>(device.limits.warp_size));
    number("sharedMemPerBlock", static_cast<std::size_t>(device.shared_memory_per_block));
    number("numSms", static_cast<std::size_t>(device.limits.multiprocessors));
    number("regsPerMultiprocessor", static_cast<std::size_t>(device.limits.registers));
    number("sharedMemPerBlockOptin", static_cast<std::size_t>(device.shared_memory_per_block_at_most));
    number("sharedMemPerMultiprocessor", static_cast<std::size_t>(device.limits.shared_memory));
    json += '}';
  }
  return json + ']';
}

}  // namespace telltale::capture
