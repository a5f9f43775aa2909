// Questions about names, asked once for each distinct name instead of once for each event.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

// By name: whether it passes the test.
std::vector<bool> names_where(const Trace& trace, const std::function<bool(std::string_view)>& test);

}  // namespace telltale
