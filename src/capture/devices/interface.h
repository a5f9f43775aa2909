// What the functions of include/telltale/devices.h share: options that may be null or of another version, and errors.
#pragma once

#include <telltale/devices.h>

#include <algorithm>
#include <cstring>

#include "capture/cuda/cuda_capture.h"

namespace telltale::capture {

// Its status, with its error as what telltale_devices_error_text() says on this thread.
telltale_status status_of(const Outcome& outcome);

// What the caller gave, with defaults for all that is missing.
template <typename Options>
Options given(const Options* options, void (*set_defaults)(Options*, size_t)) {
  Options result;
  set_defaults(&result, sizeof result);
  if (options != nullptr) std::memcpy(&result, options, std::min(options->size, sizeof result));
  result.size = sizeof result;
  return result;
}

}  // namespace telltale::capture
