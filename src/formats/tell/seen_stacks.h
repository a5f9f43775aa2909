// Stacks that threads were seen at, each stored once, and the functions that stand in them.
//
// Used by one thread. Texts of functions are ids of the strings it is given.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/interned_strings.h"
#include "base/interned_values.h"
#include "trace/kind.h"

namespace telltale::tell {

using StackNumber = std::uint32_t;  // equal for equal texts
inline constexpr StackNumber kNoFrames = 0;

// A function, a module, or a wait at a line of a function.
struct SeenFunction {
  StringId file = kEmptyString, function = kEmptyString;  // of a module: no file, and its name
  StringId waits_for = kEmptyString;
  std::int32_t line = 0;  // of a wait
  bool operator==(const SeenFunction&) const = default;
};

inline std::uint64_t hash_value(const SeenFunction& function) {
  const std::uint64_t hash = hash_with(std::uint64_t{function.file} << 32 | function.function, function.waits_for);
  return hash_with(hash, static_cast<std::uint64_t>(function.line));
}

struct SeenFrame {
  std::uint32_t function = 0;  // its number
  std::int32_t line = 0;       // where it was; 0 of a module
};

class SeenStacks {
 public:
  explicit SeenStacks(InternedStrings& strings) : strings_(strings), stacks_(1) {}

  // Frames joined by ";", innermost first. kNoFrames when it has none.
  StackNumber of(std::string_view text);
  // The stack with the wait as its innermost frame.
  StackNumber waiting(StackNumber stack, std::string_view waits_for);

  // The stack without its innermost frame or wait.
  StackNumber without_innermost(StackNumber stack);

  // Outermost first.
  std::span<const SeenFrame> frames(StackNumber stack) const;
  // How many of the outermost frames are of the same functions.
  std::size_t shared(StackNumber a, StackNumber b) const;

  StringId text(StackNumber stack) const { return stacks_[stack].text; }  // without the wait
  const SeenFunction& function(std::uint32_t number) const { return functions_[number]; }
  // "train.py(12): step" with the first line that any stack shows of it, "nn.Module: Linear_0", "<waits for lock>".
  // When all stacks are known.
  StringId name(std::uint32_t function);
  Kind kind(std::uint32_t function) const;

 private:
  struct Stack {
    StringId text = kEmptyString;
    std::size_t first = 0, count = 0;  // of frames_
  };

  SeenFrame seen_frame(std::string_view text);
  std::uint32_t numbered(const SeenFunction& function);

  InternedStrings& strings_;
  std::vector<Stack> stacks_;
  std::vector<SeenFrame> frames_;
  InternedValues<SeenFunction> functions_;
  std::vector<std::int32_t> first_lines_;  // by function
  std::vector<StringId> names_;            // by function; empty: not asked for yet
  std::unordered_map<StringId, StackNumber> by_text_;
  std::unordered_map<std::uint64_t, StackNumber> by_wait_;  // stack and what it waits for
};

}  // namespace telltale::tell
