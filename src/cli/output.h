// Standard output and the terminal behind it; standard error where a command needs that.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command.h"
#include "report/palette.h"

namespace telltale::cli {

// As wide as the terminal (COLUMNS goes before what the terminal says); colors only on a terminal that has them, and
// not where NO_COLOR is set.
TextStyle output_style(int descriptor = STDOUT_FILENO);

// A reader that went away, as in `| head`, is no error.
Result<ExitCode> print(std::string_view text, int descriptor = STDOUT_FILENO);

// JSON and CSV hold names as they are in the trace. For programs, they are printed so; a terminal would obey what some
// names say to it, and gets them without control characters.
Result<ExitCode> print_data(std::string_view text);

// A sentence on standard error, with our name before it: standard output is for answers, or somebody else's.
// Paths and names in it may hold anything: it is one line in any case.
void say(const std::string& sentence);

}  // namespace telltale::cli
