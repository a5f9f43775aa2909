// Reads the trace that a command works on and, when that takes a while, shows how far it is.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "cli/progress_line.h"
#include "trace/trace.h"

namespace telltale::cli {

Result<Trace> load(const std::string& path, const GlobalOptions& globals);

// For commands that have more to do afterwards and leave the line on the screen until then.
Result<Trace> load(const std::string& path, const GlobalOptions& globals, ProgressLine& progress);

}  // namespace telltale::cli
