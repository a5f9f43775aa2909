// Numbers as people read them: three significant digits, a unit on every number, fixed-width digits so that columns
// align on the right.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace telltale {

std::string format_time(Nanoseconds time);          // "6.94 ms", "83.6 µs", "512 ns", "1.50  s"
std::string format_bytes(std::int64_t bytes);       // "478 MiB", "-1.00 KiB", "12   B"
std::string format_flops(std::int64_t operations);  // "102 GFLOP"
std::string format_count(std::int64_t count);       // "12,345"
std::string format_share(double share);             // of 1: "29.8 %"
std::string format_number(double number);           // without a unit: "1.83", "12", "12,345", "0.00125"

}  // namespace telltale
