// Waits for what devices do, on a thread of its own: the driver's wait has no limit, and a kernel that never ends must
// not keep a program from its own end.
#pragma once

#include <memory>
#include <vector>

#include "capture/cuda/cupti_library.h"

namespace telltale::capture {

// For one thread at a time.
class DeviceWait {
 public:
  explicit DeviceWait(const CudaDriver& driver) : driver_(driver) {}

  // Whether all work in these contexts has ended, within five seconds. Where one wait was in vain, and still is, nobody
  // waits again.
  bool ends(const std::vector<CUcontext>& contexts);

 private:
  struct Wait;

  const CudaDriver& driver_;
  std::shared_ptr<Wait> vain_;
};

}  // namespace telltale::capture
