// Reads the trace that a command works on and, when that takes a while, shows how far it is.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "trace/trace.h"

namespace telltale::cli {

Result<Trace> load(const std::string& path, const GlobalOptions& globals);

}  // namespace telltale::cli
