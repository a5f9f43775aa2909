// Amounts as the explanations of findings write them: three significant digits and a unit.
#pragma once

#include <string>

#include "base/time.h"

namespace telltale {

// "12.5 ms", "840 µs", "1.20 s"
std::string time_text(Nanoseconds time);
// "38.5 MiB", "512 bytes"
std::string bytes_text(double bytes);
// "3", "12.5", "0.333", "1500": of things that are counted by step
std::string count_text(double count);

}  // namespace telltale
