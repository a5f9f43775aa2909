// CUPTI and CUDA's driver as the process has them: opened at run time, never linked, never closed.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <expected>
#include <string>

namespace telltale::capture {

// What is called of CUPTI; cupti ## name.
#define TELLTALE_CUPTI_FUNCTIONS(X) \
  X(GetVersion)                     \
  X(GetResultString)                \
  X(GetTimestamp)                   \
  X(Subscribe)                      \
  X(Unsubscribe)                    \
  X(GetCallbackName)                \
  X(EnableCallback)                 \
  X(EnableDomain)                   \
  X(ActivityRegisterCallbacks)      \
  X(ActivityEnable)                 \
  X(ActivityDisable)                \
  X(ActivityFlushAll)               \
  X(ActivityGetNextRecord)          \
  X(ActivityGetNumDroppedRecords)   \
  X(GetDeviceId)                    \
  X(GetStreamIdEx)                  \
  X(GetGraphId)                     \
  X(GetGraphNodeId)                 \
  X(Finalize)

// What is called of the driver; cu ## name, and the name under which libcuda has it.
#define TELLTALE_DRIVER_FUNCTIONS(X)            \
  X(DriverGetVersion, "cuDriverGetVersion")     \
  X(DeviceGetCount, "cuDeviceGetCount")         \
  X(DeviceGet, "cuDeviceGet")                   \
  X(DeviceGetName, "cuDeviceGetName")           \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2")      \
  X(DeviceGetAttribute, "cuDeviceGetAttribute") \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2")      \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2")        \
  X(CtxSynchronize, "cuCtxSynchronize")

struct CudaDriver {
#define TELLTALE_MEMBER(name, symbol) decltype(&::cu##name) name = nullptr;
  TELLTALE_DRIVER_FUNCTIONS(TELLTALE_MEMBER)
#undef TELLTALE_MEMBER
  int version = 0;  // of CUDA, as the driver knows it: 13000
};

struct Cupti {
#define TELLTALE_MEMBER(name) decltype(&::cupti##name) name = nullptr;
  TELLTALE_CUPTI_FUNCTIONS(TELLTALE_MEMBER)
#undef TELLTALE_MEMBER
  std::uint32_t version = 0;
  std::string path;  // as it was opened
};

// What the process shall record with. TELLTALE_CUDA_LIBRARY and TELLTALE_CUPTI_LIBRARY name other files, unless the
// process has more rights than whoever started it.
std::expected<CudaDriver, std::string> open_cuda_driver();

// The library that is in the process already, else the one that fits the driver best: the same major version of CUDA,
// or an older one.
std::expected<Cupti, std::string> open_cupti(const CudaDriver& driver);

// CUPTI's own words for an error.
std::string words_for(const Cupti& cupti, CUptiResult result);

}  // namespace telltale::capture
