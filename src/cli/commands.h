// All commands, in the order in which help shows them. Adding one is adding its file and its line here.
#pragma once

#include <span>

#include "cli/command.h"

namespace telltale::cli {

std::span<const Command* const> all_commands();

}  // namespace telltale::cli
