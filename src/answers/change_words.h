// Changes to a step as people write them, "aten::item", "kernel:*gemm*", "module:Attention_?=0.5", and what to say when
// one makes no sense.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answers/spelling.h"
#include "base/error.h"
#include "replay/event_pattern.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace telltale::answers {

// What stands before the first colon is a kind if it is the name of one and the colon is not doubled, as in "aten::mm".
EventPattern parsed_pattern(std::string_view text);

// A pattern, "=" and a factor from 0 to kLargestFactor; nothing when it is not that. Names may have "=" in them, too.
std::optional<PatternChange> parsed_scaling(std::string_view text);

// "operator, python, … or other": the kinds of events that a change can be about.
std::string kinds_that_are_replayed();

// The change that an option asks for, or why it can match nothing in any trace.
Result<PatternChange> removal_of(const std::string& text, Spelling spelling);
Result<PatternChange> scaling_of(const std::string& text, Spelling spelling);

// The pattern that matches nothing in this trace, and why as far as we can tell; empty when all match.
std::string why_no_match(const WhatIf& answer, const Trace& trace);

}  // namespace telltale::answers
