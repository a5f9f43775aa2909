// Real traces as programs were recorded: those that tests/diagnosis keeps with their truth, and the examples.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/trace.h"

namespace telltale {

std::vector<std::filesystem::path> real_traces();
Trace trace_of(const std::filesystem::path& path);

}  // namespace telltale
