// A process that runs already: it is asked for a trace, provided that it was started with KINETO_USE_DAEMON=1.
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/record_options.h"
#include "cli/record_output.h"

namespace telltale::cli {

struct ProcessOutcome {
  std::vector<RecordedFile> files;  // empty when it was interrupted, or ended before its trace was complete
  int signal = 0;                   // that interrupted us
};

// `handle` is called with the files while they exist: they may be in a folder that is gone afterwards.
Result<ExitCode> record_process(const RecordOptions& options, const OutputName& name, const GlobalOptions& globals);

}  // namespace telltale::cli
