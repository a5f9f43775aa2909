// Amounts as the explanations of findings write them: three significant digits and a unit.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace telltale {

// "12.5 ms", "840 µs", "1.20 s"
std::string duration_in_words(Nanoseconds time);
// "38.5 MiB", "512 bytes"
std::string size_in_words(double bytes);
// "3", "12.5", "0.333", "1500": of things that are counted by step
std::string count_in_words(double count);
// "1 kernel", "12.5 kernels"
std::string counted_in_words(double count, std::string_view noun);

}  // namespace telltale
