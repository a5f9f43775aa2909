// The Python calls of one thread, from its operators' stacks and from samples.
//
// A call lasts as long as the thread is seen in it: at operators, which say from where they were called, and by samples
// in between. docs/architecture.md, "Calls that are seen by samples", says how.
//
// Used by one thread at a time, like the stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "formats/tell/open_calls.h"
#include "formats/tell/seen_stacks.h"

namespace telltale::tell {

// What was recorded exactly on the thread.
struct ExactScope {
  Nanoseconds start = 0, end = 0;
  StackNumber stack = kNoFrames;  // from where it was called, if it says so
  std::int32_t kept_frames = -1;  // of them the calls that the scope before with such a number had; -1: it does not say
  StringId name = kEmptyString;
  bool may_contain_calls = false;  // no operator or call of an API, in which time is their own
};

struct SeenSample {
  Nanoseconds time = 0;
  StackNumber stack = kNoFrames;
};

struct SeenThread {
  std::vector<ExactScope> scopes;   // in any order; quick when in that of their ends, inner ones first
  std::vector<Interval> pauses;     // of the recording
  std::vector<SeenSample> samples;  // in any order
};

// In the order in which they begin, outer ones first. None begins before `first`.
std::vector<MadeCall> calls_of(SeenThread thread, SeenStacks& stacks, Nanoseconds first);

}  // namespace telltale::tell
