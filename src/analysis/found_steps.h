// Where the steps of a trace are on the host, marked or not.
//
// Marks come first (trace/step_marks.h), then what the optimizer ends, then what repeats at the outermost level
// (repetition.h), then the parts of a single pass that warms up; else the whole trace is one step. A program that takes
// one optimizer step only is one step, however many batches it accumulates.
//
// A marked step lasts until the next mark begins, so that what a program does between marks belongs to the step before.
// Where it does nothing for a while, as a server does between requests, the step ends with its mark, and what follows
// lies between steps: see kPause. The first one of a program that was recorded from its start begins with its work:
// see first_step.h.
//
// Pure and thread-safe; linear in events.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

enum class StepSource : std::uint8_t {
  kMarks,      // annotations: ProfilerStep#, or what a framework writes
  kOptimizer,  // from one optimizer step to the next
  kPattern,    // what repeats at the outermost level of the busiest thread, or is done for each request: see requests.h
  kParts,      // a single pass that warms up: the alike parts of it, see parts_of_cold_pass()
  kWhole,      // none of these: the whole trace counts as one step
};
std::string_view name_of(StepSource source);

struct FoundStep {
  std::int64_t index = 0;  // the number in its mark, else its place
  Interval host;
};

struct FoundSteps {
  StepSource source = StepSource::kWhole;
  std::vector<FoundStep> steps;  // by start; never empty
};

FoundSteps found_steps(const Trace& trace);

}  // namespace telltale
