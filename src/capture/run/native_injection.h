// How CUDA programs without PyTorch are recorded: CUDA's driver and NVTX load a library of ours into them, as variables
// of the environment tell them to. What it does there is told in src/capture/devices/injection.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace telltale::capture {

// libtelltale_devices.so: of the Python package in that folder, or beside this program in a wheel, a build tree or an
// installation. Absent when there is none.
std::optional<std::filesystem::path> devices_library(const std::filesystem::path& python);

struct NativeInjection {
  std::vector<std::string> variables;   // as NAME=VALUE
  std::vector<std::string> left_alone;  // names that the user's environment has already, for another tool
};
NativeInjection native_injection(const std::filesystem::path& library);

}  // namespace telltale::capture
