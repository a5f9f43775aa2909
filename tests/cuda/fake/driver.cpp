// The driver's half: what the recorder asks of it, and cuInit(), which loads what CUDA_INJECTION64_PATH names as the
// real one does.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "calls.h"
#include "fake_cuda.h"

namespace fake {
namespace {

struct State {
  std::mutex mutex;
  std::map<std::string, int> calls;
  struct Failure {
    int code = 0, first = 0, last = 0;
  };
  std::map<std::string, Failure> failures;
  std::set<void*> destroyed;
  std::map<std::string, std::function<void()>> on_entering;
  std::function<void(CUcontext)> on_synchronize;
};

State& state() {
  static auto* const made = new State;
  return *made;
}

thread_local CUcontext current = nullptr;

}  // namespace

int entered(const std::string& function) {
  std::unique_lock held(state().mutex);
  if (const auto found = state().on_entering.find(function); found != state().on_entering.end()) {
    const std::function<void()> act = found->second;
    held.unlock();
    act();
    held.lock();
  }
  const int count = ++state().calls[function];
  const auto failure = state().failures.find(function);
  if (failure == state().failures.end()) return 0;
  const auto& [code, first, last] = failure->second;
  return count >= first && count <= last ? code : 0;
}

void fail(const std::string& function, int code, int from, int last) {
  const std::lock_guard held(state().mutex);
  state().failures[function] = {code, from, last};
}

int calls_of(const std::string& function) {
  const std::lock_guard held(state().mutex);
  return state().calls[function];
}

void reset_driver() {
  const std::lock_guard held(state().mutex);
  state().calls.clear();
  state().failures.clear();
  state().destroyed.clear();
  state().on_entering.clear();
  state().on_synchronize = nullptr;
}

bool is_destroyed(void* context) {
  const std::lock_guard held(state().mutex);
  return state().destroyed.contains(context);
}

void mark_destroyed(void* context) {
  const std::lock_guard held(state().mutex);
  state().destroyed.insert(context);
}

void create_context(CUcontext context) {
  const std::lock_guard held(state().mutex);
  state().destroyed.erase(context);
}

void on_entering(const std::string& function, std::function<void()> act) {
  const std::lock_guard held(state().mutex);
  state().on_entering[function] = std::move(act);
}

void on_synchronize(std::function<void(CUcontext)> act) {
  const std::lock_guard held(state().mutex);
  state().on_synchronize = std::move(act);
}

}  // namespace fake

using fake::entered;

extern "C" {

CUresult cuInit(unsigned) {
  if (const int code = entered("cuInit")) return static_cast<CUresult>(code);
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (fake::calls_of("cuInit") > 1 || path == nullptr) return CUDA_SUCCESS;
  void* const library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) return CUDA_SUCCESS;
  auto* const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return initialize != nullptr && initialize() != 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return static_cast<CUresult>(entered("cuDriverGetVersion"));
}

CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return static_cast<CUresult>(entered("cuDeviceGetCount"));
}

CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return static_cast<CUresult>(entered("cuDeviceGet"));
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  if (const int code = entered("cuDeviceGetName")) return static_cast<CUresult>(code);
  std::strncpy(name, "Fake \"GPU\"", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{80} << 30;
  return static_cast<CUresult>(entered("cuDeviceTotalMem_v2"));
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  if (const int code = entered("cuDeviceGetAttribute")) return static_cast<CUresult>(code);
  static const std::map<int, int> values = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                            {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                                            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                                            {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
                                            {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                                            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
                                            {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
                                            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9}};
  const auto found = values.find(which);
  *value = found != values.end() ? found->second : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (const int code = entered("cuCtxPushCurrent_v2")) return static_cast<CUresult>(code);
  if (fake::is_destroyed(context)) return CUDA_ERROR_INVALID_CONTEXT;
  fake::current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = std::exchange(fake::current, nullptr);
  return static_cast<CUresult>(entered("cuCtxPopCurrent_v2"));
}

CUresult cuCtxSynchronize() {
  if (const int code = entered("cuCtxSynchronize")) return static_cast<CUresult>(code);
  std::function<void(CUcontext)> act;
  {
    const std::lock_guard held(fake::state().mutex);
    act = fake::state().on_synchronize;
  }
  if (act) act(fake::current);
  return CUDA_SUCCESS;
}

}  // extern "C"
