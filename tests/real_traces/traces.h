// Real traces as programs were recorded: those that tests/diagnosis keeps with their truth, the examples, and what can
// be read in the folders that TELLTALE_TRACES names, with colons between them.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/trace.h"

namespace telltale {

std::vector<std::filesystem::path> real_traces();
Trace trace_of(const std::filesystem::path& path);

}  // namespace telltale
