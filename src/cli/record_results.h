// What comes after a recording: files get their names, the diagnosis is printed, and where everything is is said.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/record_options.h"
#include "cli/record_output.h"

namespace telltale::cli {

// On standard error, with our name before it: standard output is the command's.
void say(const std::string& sentence);

// Whatever goes wrong is said, and changes nothing else: what was recorded stays where it is.
void finish_recording(const std::vector<RecordedFile>& files, const OutputName& name, const RecordOptions& options,
                      const GlobalOptions& globals);

}  // namespace telltale::cli
