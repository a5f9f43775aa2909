// Time is a count of nanoseconds everywhere: no floating point, no other unit inside the program.
#pragma once

#include <cstdint>

namespace telltale {

using Nanoseconds = std::int64_t;

}  // namespace telltale
