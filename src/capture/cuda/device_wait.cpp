#include "capture/cuda/device_wait.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "capture/cuda/signals_blocked.h"

namespace telltale::capture {
namespace {

constexpr std::chrono::seconds kLongest{5};

}  // namespace

struct DeviceWait::Wait {
  std::mutex mutex;
  std::condition_variable ends;
  bool has_ended = false;

  void end() {
    const std::lock_guard held(mutex);
    has_ended = true;
    ends.notify_all();
  }
  bool ends_within(std::chrono::seconds limit) {
    std::unique_lock held(mutex);
    return ends.wait_for(held, limit, [&] { return has_ended; });
  }
};

bool DeviceWait::ends() {
  if (vain_ != nullptr && !vain_->ends_within(std::chrono::seconds(0))) return false;
  vain_ = nullptr;
  std::vector<CUcontext> contexts;
  contexts_.for_each([&](CUcontext context) { contexts.push_back(context); });
  if (contexts.empty()) return true;
  const auto wait = std::make_shared<Wait>();
  try {
    const SignalsBlocked blocked;
    // Left to itself where it takes too long.
    std::thread([wait, contexts, &driver = driver_, &known = contexts_] {
      ApiCalls::leave_this_thread_out();
      for (CUcontext context : contexts) {
        // The wait for those before it may have taken long.
        if (!known.has(context) || driver.CtxPushCurrent(context) != CUDA_SUCCESS) continue;
        driver.CtxSynchronize();
        CUcontext popped = nullptr;
        driver.CtxPopCurrent(&popped);
      }
      wait->end();
    }).detach();
  } catch (const std::exception&) {
    return false;
  }
  if (wait->ends_within(kLongest)) return true;
  vain_ = wait;
  return false;
}

}  // namespace telltale::capture
