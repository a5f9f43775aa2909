// The program: reads the words it was called with, runs the command, and says in one line what went wrong.
#pragma once

namespace telltale::cli {

int run(int argc, const char* const* argv);

}  // namespace telltale::cli
