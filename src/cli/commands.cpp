#include "cli/commands.h"

#include <array>

namespace telltale::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array<const Command*, 6> kCommands = {
      &kRecordCommand, &kAnalyzeCommand, &kWhatIfCommand, &kInfoCommand, &kTopCommand, &kConvertCommand,
  };
  return kCommands;
}

}  // namespace telltale::cli
