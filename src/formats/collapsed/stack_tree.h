// All different stacks: calls inside of calls as a tree, and the time spent in each of them on each track.
//
// A stack as text repeats all calls around it, so that the text of calls that nest deeply grows with the square of
// their depth. Where that would be more than `most_text`, stacks end early: calls that are deeper count in those around
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/interned_strings.h"
#include "base/interned_values.h"
#include "base/time.h"
#include "trace/places.h"

namespace telltale::collapsed {

using StackNode = std::uint32_t;
inline constexpr StackNode kNoNode = UINT32_MAX;

// A call inside of another one. The outermost stand in kNoNode, whatever track they are on: device work is inside of
// the calls that launched it, on a track of its own.
struct FrameInStack {
  StackNode outer = kNoNode;
  StringId name = kEmptyString;
  bool operator==(const FrameInStack&) const = default;
};

inline std::uint64_t hash_value(const FrameInStack& frame) {
  return hash_with(0, std::uint64_t{frame.outer} << 32 | frame.name);
}

// A line of the text.
struct Stack {
  TrackId track = 0;
  StackNode innermost = kNoNode;
  bool operator==(const Stack&) const = default;
};

inline std::uint64_t hash_value(const Stack& stack) {
  return hash_with(0, std::uint64_t{stack.innermost} << 32 | stack.track);
}

struct TimedStack {
  Stack stack;
  Nanoseconds time = 0;
};

class StackTree {
 public:
  // The calls with one more inside.
  StackNode inside(StackNode outer, StringId name);
  void add_time(Stack stack, Nanoseconds time);

  const FrameInStack& operator[](StackNode node) const { return frames_[node]; }

  struct Stacks {
    std::vector<TimedStack> stacks;  // in the order in which they were added; those without time are left out
    std::uint64_t shortened = 0;     // how many there were that are deeper than they are shown
  };
  struct TextSizes {
    std::function<std::size_t(StringId)> of_call;
    std::function<std::size_t(TrackId)> of_track;
  };
  // As deep as all of them can be written in `most_text` bytes.
  Stacks stacks(std::uint64_t most_text, const TextSizes& sizes) const;

 private:
  Stacks cut_at(std::uint32_t depth) const;

  InternedValues<FrameInStack> frames_;
  std::vector<std::uint32_t> depth_;  // by node, from 1 on
  InternedValues<Stack> lines_;
  std::vector<Nanoseconds> time_;  // by line
};

}  // namespace telltale::collapsed
