// Standard output and the terminal behind it.
#pragma once

#include <string_view>

#include "base/error.h"
#include "cli/command.h"
#include "report/palette.h"

namespace telltale::cli {

// As wide as the terminal (COLUMNS goes before what the terminal says); colours only on a terminal that has them, and
// not where NO_COLOR is set.
TextStyle output_style();

// A reader that went away, as in `| head`, is no error.
Result<ExitCode> print(std::string_view text);

}  // namespace telltale::cli
