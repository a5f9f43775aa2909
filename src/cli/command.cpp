#include "cli/command.h"

namespace telltale::cli {

std::span<const Command* const> all_commands() {
  static constexpr const Command* kCommands[] = {
#define TELLTALE_COMMAND(name) &commands::name,
#include "cli/commands.inc"
#undef TELLTALE_COMMAND
  };
  return kCommands;
}

}  // namespace telltale::cli
