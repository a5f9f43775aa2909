// Which of the machine's devices a process has, and by what numbers it knows them.
//
// NVML numbers all devices in the order of the PCI bus. CUDA gives a process those that CUDA_VISIBLE_DEVICES lists, in
// that order; and unless CUDA_DEVICE_ORDER says PCI_BUS_ID, an index there means the fastest devices first, which is
// the same order where all are alike. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace telltale::capture {

struct PhysicalDevice {
  std::string uuid;  // "GPU-8932f937-…"
  std::string name;  // "NVIDIA H200"
};

struct VisibleDevice {
  std::size_t index = 0;           // among the machine's
  std::optional<unsigned> number;  // CUDA's, in this process; nothing where nobody can tell which it is
};

// Null: the variable is not set. MIG devices, which are parts of one, are left out.
std::vector<VisibleDevice> visible_devices(const std::vector<PhysicalDevice>& all, const char* cuda_visible_devices,
                                           const char* cuda_device_order);

}  // namespace telltale::capture
