#include "cli/commands.h"

#include <array>

namespace telltale::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array<const Command*, 3> kCommands = {
      &kAnalyzeCommand,
      &kInfoCommand,
      &kTopCommand,
  };
  return kCommands;
}

}  // namespace telltale::cli
