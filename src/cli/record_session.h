// A command being recorded, from its start to its end.
#pragma once

#include <vector>

#include "cli/record_child.h"
#include "cli/record_engine.h"
#include "cli/record_options.h"
#include "cli/record_output.h"

namespace telltale::cli {

struct SessionOutcome {
  Ending ending;
  bool was_stopped_by_us = false;  // as --stop-when-recorded asks
  std::vector<RecordedFile> files;
  std::string why_nothing;  // a sentence, where there are no files
};

// Runs the command. Fails, with an exit code for us, only where it could not be started.
std::expected<SessionOutcome, StartFailure> record_command(const RecordOptions& options, const EngineChoice& choice,
                                                           const OutputName& name, const WorkFolder& work);

}  // namespace telltale::cli
