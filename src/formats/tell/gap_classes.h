// What a thread does between two operators, from the few samples that fell in between.
//
// A gap is too short for a sample of its own most of the time, but it comes back: gaps between the same two operators,
// called from the same two lines, with the same calls of APIs in between, are one class, and all samples of a class say
// what its gaps are spent on. Every gap is divided as the samples of its class are, so that the time of a function does
// not depend on where samples fell.
//
// Used by one thread: first all add(), then divided().
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "formats/tell/seen_stacks.h"

namespace telltale::tell {

// What a gap lies between.
struct GapEnd {
  StackNumber stack = kNoFrames;
  StringId scope = kEmptyString;  // the operator's name
  bool operator==(const GapEnd&) const = default;
};
struct GapKind {
  GapEnd before, behind;
  std::uint64_t between = 0;  // a hash of what is called in between that tells no stack; 0: nothing
  bool operator==(const GapKind&) const = default;
};

// A stretch of time at one stack.
struct StackStretch {
  Nanoseconds start = 0, end = 0;
  StackNumber stack = kNoFrames;
};

class GapClasses {
 public:
  explicit GapClasses(SeenStacks& stacks) : stacks_(stacks) {}

  // A sample in a gap of that kind, so long after the gap's beginning.
  void add(const GapKind& kind, StackNumber sample, Nanoseconds place, Nanoseconds length);

  // What one gap from `start` to `end` is spent on, in the order of time; nothing for a class without samples. A gap
  // with something in between is then as those without.
  void divide(const GapKind& kind, Nanoseconds start, Nanoseconds end, std::vector<StackStretch>& into);

 private:
  struct Part {
    StackNumber stack = kNoFrames;
    std::uint64_t samples = 0;
    double places = 0;  // their sum, as shares of their gaps
  };
  struct Class {
    std::vector<Part> parts;  // one a stack; later one a path, in the order of time
    std::unordered_map<StackNumber, std::size_t> part_of;
    std::uint64_t samples = 0;
    Nanoseconds longest = 0;  // of the gaps that had a sample
    bool is_ordered = false;
  };

  using Path = std::vector<std::uint32_t>;  // functions, outermost first

  // The stacks around the gap, as long as parts follow them; kNoFrames: no longer.
  struct Around {
    StackNumber before = kNoFrames, behind = kNoFrames;
  };

  void order(Class& of, Around around);
  void order(std::span<Part> parts, std::size_t depth, Around around);
  void fold(std::map<Path, Part>& paths, std::size_t most);

  SeenStacks& stacks_;
  struct Hash {
    std::size_t operator()(const GapKind& kind) const;
  };
  std::unordered_map<GapKind, Class, Hash> classes_;
};

}  // namespace telltale::tell
