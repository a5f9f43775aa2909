// What the driver tells of the process's devices, for occupancy and for the head of the recording.
#pragma once

#include <string>
#include <vector>

#include "capture/cuda/cupti_library.h"
#include "capture/cuda/occupancy.h"

namespace telltale::capture {

struct DeviceFacts {
  std::string name;
  std::size_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  int threads_per_block = 0, registers_per_block = 0;
  int shared_memory_per_block = 0, shared_memory_per_block_at_most = 0;
  MultiprocessorLimits limits;
};

// In the driver's order. Empty where the process has not initialized CUDA.
std::vector<DeviceFacts> device_facts(const CudaDriver& driver);

// As torch.profiler has it at the top of its files.
std::string properties_json(const std::vector<DeviceFacts>& devices);

}  // namespace telltale::capture
