// What include/telltale/devices.h promises: the rooms that record devices, one at a time, with their errors as text.
#include <telltale/devices.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "capture/cuda/cuda_capture.h"
#include "interface.h"

namespace telltale::capture {
namespace {

thread_local char error_text[512] = "";

}  // namespace

telltale_status status_of(const Outcome& outcome) {
  std::snprintf(error_text, sizeof error_text, "%s", outcome.error.c_str());
  return outcome.status;
}

}  // namespace telltale::capture

using namespace telltale::capture;

extern "C" {

const char* telltale_devices_error_text(void) { return error_text; }

void telltale_default_cuda_options(telltale_cuda_options* options, size_t size) {
  const telltale_cuda_options defaults = {sizeof defaults, TELLTALE_CUDA_CALLS_CHOSEN, 32, nullptr, 0, 0};
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
  options->size = size;
}

telltale_status telltale_cuda_start(const telltale_cuda_options* options) {
  return status_of(start_cuda(given(options, telltale_default_cuda_options)));
}

telltale_status telltale_cuda_stop(void) { return status_of(stop_cuda()); }

telltale_status telltale_cuda_watch_graphs(const telltale_cuda_options* options) {
  return status_of(watch_cuda_graphs(given(options, telltale_default_cuda_options)));
}

}  // extern "C"
