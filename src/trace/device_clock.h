// How well the times of a device agree with those of the host, where the recorder measured it.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.h"

namespace telltale {

struct DeviceClock {
  std::uint64_t samples = 0;    // at which both clocks were read
  double drift_ppm = 0;         // of the device's clock, taken out
  Nanoseconds residual_ns = 0;  // by which times of host and device may still differ
};

// What `device_clock` in the trace's metadata says; nothing when it is not there or makes no sense.
std::optional<DeviceClock> device_clock(const Trace& trace);

}  // namespace telltale
