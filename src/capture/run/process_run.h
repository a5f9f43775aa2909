// A process that runs already: it is asked for a trace, provided that it was started with KINETO_USE_DAEMON=1.
#pragma once

#include <vector>

#include "base/error.h"
#include "capture/run/attachment.h"
#include "capture/run/command_run.h"
#include "capture/run/options.h"
#include "capture/run/recorded_files.h"

namespace telltale::capture {

struct ProcessOutcome {
  int interruption = 0;             // the signal that ended the waiting, such as Ctrl-C's; 0: none
  std::vector<RecordedFile> files;  // in the work folder; never empty without an interruption
};

// Waits until the trace of process `options.pid` is there, the process ends, or a signal ends the waiting.
Result<ProcessOutcome> run_process(const RecordOptions& options, const WorkFolder& work, const Say& say);

}  // namespace telltale::capture
