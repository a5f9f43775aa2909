// What a command of the program is: a name, and a function that declares its words and does its work.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/input/read_options.h"

// Whoever declares or reads options includes CLI11 itself: parsing it takes seconds.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace telltale::cli {

// What every command is told.
struct GlobalOptions {
  ReadOptions reading;
  std::vector<std::string> child_command;  // the words behind "--", for the command that runs another program
};

// The exit codes of every command.
enum ExitCode : int {
  kDone = 0,
  kCouldNotWork = 2,  // the command could not do its work
};

using Work = std::function<Result<ExitCode>()>;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Declares the options on `app` and returns what to do once they are read. Options live in the returned work.
  Work (*declare)(CLI::App& app, const GlobalOptions& globals);
};

// One a file.
namespace commands {
#define TELLTALE_COMMAND(name) extern const Command name;
#include "cli/commands.inc"
#undef TELLTALE_COMMAND
}  // namespace commands

// In the order of commands.inc.
std::span<const Command* const> all_commands();

}  // namespace telltale::cli
