// The answer to a what-if for a terminal: a sentence, the step before and after, and what was changed.
#pragma once

#include <string>

#include "replay/what_if.h"
#include "report/palette.h"

namespace telltale {

std::string whatif_text(const WhatIf& answer, const TextStyle& style);

}  // namespace telltale
