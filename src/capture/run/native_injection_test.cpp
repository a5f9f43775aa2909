#include "capture/run/native_injection.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

TEST(NativeInjection, tells_the_driver_and_nvtx_what_to_load) {
  const auto injection = native_injection("/opt/with blank/libtelltale_devices.so");
  EXPECT_EQ(injection.variables, (Texts{"CUDA_INJECTION64_PATH=/opt/with blank/libtelltale_devices.so",
                                        "NVTX_INJECTION64_PATH=/opt/with blank/libtelltale_devices.so"}));
  EXPECT_EQ(injection.left_alone, Texts{});
}

TEST(NativeInjection, leaves_what_another_tool_has_set_alone) {
  setenv("CUDA_INJECTION64_PATH", "/opt/nsys/libinjection.so", 1);
  setenv("NVTX_INJECTION64_PATH", "", 1);
  const auto injection = native_injection("/lib/ours.so");
  EXPECT_EQ(injection.variables, Texts{"NVTX_INJECTION64_PATH=/lib/ours.so"});
  EXPECT_EQ(injection.left_alone, Texts{"CUDA_INJECTION64_PATH"});
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("NVTX_INJECTION64_PATH");
}

TEST(NativeInjection, finds_the_library_of_the_python_package_first) {
  std::string folder = testing::TempDir() + "telltale-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  fs::create_directories(fs::path(folder) / "telltale/lib");
  const fs::path library = fs::path(folder) / "telltale/lib/libtelltale_devices.so";
  std::ofstream{library};
  EXPECT_EQ(devices_library(folder), fs::canonical(library));
  fs::remove_all(folder);
  EXPECT_NE(devices_library(folder), library);
}

}  // namespace
}  // namespace telltale::capture
