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

// A sentence on standard error, with our name before it: standard output is for answers, or somebody else's.
void say(const std::string& sentence);

}  // namespace telltale::cli
