// Calls made of what a thread was seen at, one stack after the other.
//
// Calls nest with the scopes that were recorded exactly: what would overlap one of them in part begins with it where
// nothing was seen of it before, and is divided at its edge otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/intervals.h"
#include "base/time.h"
#include "formats/tell/seen_stacks.h"

namespace telltale::tell {

struct MadeCall {
  Nanoseconds start = 0, end = 0;
  SeenFrame frame;                // its line: where its own time goes or, without any, where it was first
  StackNumber stack = kNoFrames;  // where its own time goes; kNoFrames without any
};

// Used by one thread. Times never fall from one call of a function to the next.
class OpenCalls {
 public:
  // `scopes` are recorded exactly, nest, and stand in the order of their starts, outer ones first.
  OpenCalls(const SeenStacks& stacks, std::span<const Interval> scopes) : stacks_(stacks), scopes_(scopes) {}

  // Ends all but the `kept` outermost calls.
  void end(std::size_t kept, Nanoseconds time);
  // Begins the frames of the stack that are not open. They are sure to be open from `known_from` on.
  void begin(StackNumber stack, Nanoseconds time, Nanoseconds known_from);
  // The innermost call spends time of its own.
  void spend(StackNumber stack, Nanoseconds time);

  std::size_t depth() const { return depth_; }
  // In the order in which they began, outer ones first; some take no time. Ends what is open.
  std::vector<MadeCall> take(Nanoseconds end_time);

 private:
  struct Entry {
    bool is_scope = false;
    Nanoseconds start = 0;
    Nanoseconds end = 0;         // of a scope
    Nanoseconds known_from = 0;  // of a call
    std::size_t slot = 0;        // of a call: in calls_
    SeenFrame frame;
    std::vector<std::pair<StackNumber, Nanoseconds>> own;  // time by stack
  };

  void pass_scopes(Nanoseconds time);
  void end_scope();
  void write(const Entry& call, Nanoseconds start, Nanoseconds end, std::size_t slot);
  std::size_t new_slot();

  const SeenStacks& stacks_;
  std::span<const Interval> scopes_;
  std::size_t next_scope_ = 0;
  std::vector<Entry> open_;  // calls and scopes, outermost first
  std::size_t depth_ = 0;    // calls among them
  std::vector<MadeCall> calls_;
};

}  // namespace telltale::tell
