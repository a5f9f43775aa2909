// What a trace holds, as a card that fits a screen.
#pragma once

#include <string>

#include "analysis/trace_info.h"
#include "report/palette.h"

namespace telltale {

std::string info_card(const TraceInfo& info, const TextStyle& style);

}  // namespace telltale
