// Records what CUDA does into the session of the process: see include/telltale/devices.h.
#pragma once

#include <telltale/devices.h>

#include <string>

namespace telltale::capture {

// What became of a call: a status and, where that is not OK, why. With OK, what whoever calls should know, if anything.
struct Outcome {
  telltale_status status = TELLTALE_STATUS_OK;
  std::string error;
};

Outcome start_cuda(const telltale_cuda_options& options);
Outcome stop_cuda();
Outcome watch_cuda_graphs(const telltale_cuda_options& options);

}  // namespace telltale::capture
