// What memory would be with another device, batch or settings, for the terminal.
#pragma once

#include <string>

#include "memory/memory_what_if.h"
#include "report/palette.h"

namespace telltale {

std::string memory_what_if_text(const MemoryWhatIf& answer, const TextStyle& style);

}  // namespace telltale
