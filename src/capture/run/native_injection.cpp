#include "capture/run/native_injection.h"

#include <cstdlib>
#include <system_error>

namespace telltale::capture {

namespace fs = std::filesystem;

std::optional<fs::path> devices_library(const fs::path& python) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder :
       {python / "telltale/lib", program / "../lib", program / ".." / TELLTALE_LIBRARY_FOLDER}) {
    const fs::path library = fs::canonical(folder / "libtelltale_devices.so", error);
    if (!error) return library;
  }
  return std::nullopt;
}

NativeInjection native_injection(const fs::path& library) {
  NativeInjection injection;
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* const others = secure_getenv(name);
    if (others != nullptr && *others != '\0') {
      injection.left_alone.emplace_back(name);
    } else {
      injection.variables.push_back(std::string(name) + "=" + library.string());
    }
  }
  return injection;
}

}  // namespace telltale::capture
