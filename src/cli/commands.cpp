#include "cli/commands.h"

#include <array>

namespace telltale::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array<const Command*, 4> kCommands = {
      &kAnalyzeCommand,
      &kWhatIfCommand,
      &kInfoCommand,
      &kTopCommand,
  };
  return kCommands;
}

}  // namespace telltale::cli
