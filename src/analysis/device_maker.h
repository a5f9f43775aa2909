// Who makes the devices of a trace: advice on NVIDIA's number formats is no use on others.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

enum class DeviceMaker : std::uint8_t { kUnknown, kNvidia, kAmd, kOther };

// By the runtime that the header names or, where it names none, by the devices' names.
DeviceMaker maker_of_devices(const Trace& trace);

// What texts call the devices: "GPU", or "device" where they are none.
std::string_view device_word(const Trace& trace);

}  // namespace telltale
