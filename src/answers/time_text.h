// Points in time as people write them: 1.5s, 200ms, 300us.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace telltale::answers {

// s, ms, us (or µs) and ns; digits beyond nanoseconds are cut off. Nothing when it is no time, has no unit, or is
// longer than 100 years.
std::optional<Nanoseconds> parsed_time(std::string_view text);

}  // namespace telltale::answers
