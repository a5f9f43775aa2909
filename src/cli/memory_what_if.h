// The flags of telltale memory that ask for a simulation.
#pragma once

#include <CLI/CLI.hpp>

#include "answers/memory_what_if.h"

namespace telltale::cli {

// `request` must outlive the parsing.
void declare_memory_what_if(CLI::App& app, answers::MemoryWhatIfRequest& request);

}  // namespace telltale::cli
