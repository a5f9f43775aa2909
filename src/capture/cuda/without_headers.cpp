// In place of all other sources here, where the build had no headers of CUDA.
#include "capture/cuda/cuda_capture.h"

namespace telltale::capture {
namespace {

Outcome not_built() {
  return {TELLTALE_STATUS_CANNOT_OPEN, "this build of telltale cannot record CUDA: it was made without CUDA's headers"};
}

}  // namespace

Outcome start_cuda(const telltale_cuda_options&) { return not_built(); }
Outcome stop_cuda() { return not_built(); }
Outcome watch_cuda_graphs(const telltale_cuda_options&) { return not_built(); }

}  // namespace telltale::capture
