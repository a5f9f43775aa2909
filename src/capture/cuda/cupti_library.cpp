#include "capture/cuda/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "capture/cuda/toolkits.h"

namespace telltale::capture {
namespace {

constexpr int kOldestMajor = 12;
constexpr std::uint32_t kOldestCupti = 18;  // of CUDA 12.0, which gave records the beginning that they still have

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

std::string file_name(int major) { return "libcupti.so." + std::to_string(major); }

std::vector<std::string> named_homes() {
  std::vector<std::string> homes;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = secure_getenv(name); home != nullptr && home[0] == '/') homes.emplace_back(home);
  return homes;
}

struct Opened {
  void* library = nullptr;
  std::string path;
};

// The one that the process has already comes first, whatever its version: two would not know of each other.
Opened open_file(int driver_version) {
  const int newest_major = driver_version / 1000;
  for (int major = newest_major + 1; major >= kOldestMajor; --major)
    if (void* library = dlopen(file_name(major).c_str(), RTLD_NOW | RTLD_NOLOAD)) return {library, file_name(major)};
  for (int major = newest_major; major >= kOldestMajor; --major) {
    if (void* library = dlopen(file_name(major).c_str(), RTLD_NOW | RTLD_LOCAL)) return {library, file_name(major)};
    for (const std::string& path : toolkit_files(file_name(major), named_homes(), "", driver_version))
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {library, path};
  }
  return {};
}

}  // namespace

std::expected<CudaDriver, std::string> open_cuda_driver() {
  const char* named = secure_getenv("TELLTALE_CUDA_LIBRARY");
  void* library = dlopen(named != nullptr ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::unexpected("there is no NVIDIA driver (libcuda.so.1)");
  CudaDriver driver;
#define TELLTALE_FIND(name, symbol)        \
  if (!find(library, symbol, driver.name)) \
    return std::unexpected("the NVIDIA driver is too old: it has no function " symbol);
  TELLTALE_DRIVER_FUNCTIONS(TELLTALE_FIND)
#undef TELLTALE_FIND
  if (driver.DriverGetVersion(&driver.version) != CUDA_SUCCESS || driver.version <= 0)
    return std::unexpected("the NVIDIA driver does not tell its version");
  if (driver.version / 1000 < kOldestMajor)
    return std::unexpected("the NVIDIA driver is too old: it knows CUDA " + std::to_string(driver.version / 1000) +
                           ", and " + std::to_string(kOldestMajor) + " is needed");
  return driver;
}

std::expected<Cupti, std::string> open_cupti(const CudaDriver& driver) {
  Opened opened;
  if (const char* named = secure_getenv("TELLTALE_CUPTI_LIBRARY")) {
    opened = {dlopen(named, RTLD_NOW | RTLD_LOCAL), named};
    if (opened.library == nullptr) return std::unexpected(std::string(named) + " cannot be opened");
  } else {
    opened = open_file(driver.version);
    if (opened.library == nullptr)
      return std::unexpected("CUPTI was not found (" + file_name(driver.version / 1000) +
                             "): install CUDA's toolkit, or the Python package nvidia-cuda-cupti");
  }
  Cupti cupti;
  cupti.path = opened.path;
#define TELLTALE_FIND(name)                             \
  if (!find(opened.library, "cupti" #name, cupti.name)) \
    return std::unexpected(opened.path + " is too old: it has no function cupti" #name);
  TELLTALE_CUPTI_FUNCTIONS(TELLTALE_FIND)
#undef TELLTALE_FIND
  if (cupti.GetVersion(&cupti.version) != CUPTI_SUCCESS || cupti.version < kOldestCupti)
    return std::unexpected(opened.path + " is too old: that of CUDA 12.0 or later is needed");
  return cupti;
}

std::string words_for(const Cupti& cupti, CUptiResult result) {
  const char* words = nullptr;
  if (cupti.GetResultString(result, &words) != CUPTI_SUCCESS || words == nullptr) words = "unknown error";
  return std::string(words) + " (" + std::to_string(result) + ")";
}

}  // namespace telltale::capture
