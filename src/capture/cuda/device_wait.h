// Waits for what devices do, on a thread of its own: the driver's wait has no limit, and a kernel that never ends must
// not keep a program from its own end.
#pragma once

#include <memory>

#include "capture/cuda/api_calls.h"
#include "capture/cuda/cupti_library.h"

namespace telltale::capture {

// For one thread at a time.
class DeviceWait {
 public:
  // Both must live as long as the process.
  DeviceWait(const CudaDriver& driver, const Contexts& contexts) : driver_(driver), contexts_(contexts) {}

  // Whether all work in the contexts has ended, within five seconds. Where one wait was in vain, and still is, nobody
  // waits again.
  bool ends();

 private:
  struct Wait;

  const CudaDriver& driver_;
  const Contexts& contexts_;
  std::shared_ptr<Wait> vain_;
};

}  // namespace telltale::capture
