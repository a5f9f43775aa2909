// A process that runs already: it is asked for a trace, provided that it was started with KINETO_USE_DAEMON=1.
#pragma once

#include "cli/command.h"
#include "cli/record_options.h"
#include "cli/record_output.h"

namespace telltale::cli {

// Waits until its trace is there, and diagnoses it. Ctrl-C ends the waiting.
Result<ExitCode> record_process(const RecordOptions& options, const OutputName& name, const GlobalOptions& globals);

}  // namespace telltale::cli
