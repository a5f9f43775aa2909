// Patterns of events as people write them: "aten::item", "kernel:*gemm*", "module:Attention_?=0.5".
#pragma once

#include <optional>
#include <string_view>

#include "replay/event_pattern.h"
#include "replay/what_if.h"

namespace telltale {

// What stands before the first colon is a kind if it is the name of one and the colon is not doubled, as in "aten::mm".
EventPattern parsed_pattern(std::string_view text);

// A pattern, "=" and a factor of 0 or more; nothing when it is not that. Names may have "=" in them, too.
std::optional<PatternChange> parsed_scaling(std::string_view text);

}  // namespace telltale
