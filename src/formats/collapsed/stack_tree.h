// All different stacks, as a tree: a node is a frame inside of another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/interned_strings.h"
#include "base/interned_values.h"
#include "base/time.h"

namespace telltale::collapsed {

using StackNode = std::uint32_t;
inline constexpr StackNode kNoNode = UINT32_MAX;

struct FrameInStack {
  StackNode outer = kNoNode;
  StringId name = kEmptyString;
  bool operator==(const FrameInStack&) const = default;
};

inline std::uint64_t hash_value(const FrameInStack& frame) {
  return hash_with(0, std::uint64_t{frame.outer} << 32 | frame.name);
}

class StackTree {
 public:
  // The stack with one more frame.
  StackNode inside(StackNode outer, StringId name) {
    const StackNode node = frames_.intern({outer, name});
    if (node == self_.size()) self_.push_back(0);
    return node;
  }
  void add_time(StackNode node, Nanoseconds time) { self_[node] += time; }

  std::size_t size() const { return self_.size(); }
  const FrameInStack& operator[](StackNode node) const { return frames_[node]; }
  Nanoseconds self_time(StackNode node) const { return self_[node]; }

 private:
  InternedValues<FrameInStack> frames_;
  std::vector<Nanoseconds> self_;
};

}  // namespace telltale::collapsed
