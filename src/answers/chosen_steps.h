// Which steps an answer is about: those that were asked for, as 5, 3..7, 3.. or ..7, or all but those that warm up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/step_range.h"
#include "analysis/step_timing.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "trace/trace.h"

namespace telltale::answers {

// Nothing when it is no range, or one that ends before it starts.
std::optional<StepRange> parsed_step_range(std::string_view text);

// A choice as it was written. Empty when nothing was chosen.
struct StepChoice {
  std::optional<StepRange> range;
  std::string words;  // "--steps 3..7"
};

// What can be said without a trace: whether the text is a range.
Result<StepChoice> parsed_choice(const std::optional<std::string>& text, Spelling spelling);

// Why the choice leaves nothing of this trace to look at, as a sentence; empty when it leaves something.
std::string why_no_step(const Trace& trace, const StepChoice& choice);

// The steps to diagnose or to replay.
struct SteadySteps {
  std::optional<StepRange> range;  // none: all
  std::string remark;              // a sentence about steps that nobody asked to leave out; empty when there are none
};

// The choice itself or, where nothing was chosen, all steps but the first two of a program that was recorded from its
// start (its trace says so, see kFromStart): things are loaded, compiled and laid out in them. Where that would leave
// fewer than three, only the first is left out; a trace of a single step, or whose recorder says nothing, is looked at
// as a whole.
SteadySteps steady_steps(const Trace& trace, const StepChoice& choice);

// What to say about steps that were left out though nobody asked for that; empty when there are none.
std::string remark_on_left_out(const StepTiming& timing);

}  // namespace telltale::answers
