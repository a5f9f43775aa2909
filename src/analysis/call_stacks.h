// The Python frames from which events were called, innermost first.
//
// An event that runs where no Python does (autograd's threads) has the stack of the forward operator that it belongs
// to; device work has the stack of its launch. Equal stacks have equal ids. Remembers what it has looked up: one
// object for one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace telltale {

using StackId = std::uint32_t;
inline constexpr StackId kNoStack = 0;

class CallStacks {
 public:
  // Only the innermost `depth` frames count.
  CallStacks(const Trace& trace, std::size_t depth);

  StackId of(EventId event);
  std::vector<std::string> frames(StackId stack) const;

 private:
  EventId nearest_frame(EventId event) const;
  StackId stack_of_frame(EventId frame);
  StackId stack_of_text(std::string_view text);
  StackId stack_of_operators(EventId event);
  StackId intern(std::vector<std::string_view> frames);

  const Trace& trace_;
  std::size_t depth_;
  std::vector<std::vector<std::string_view>> stacks_;
  std::unordered_map<std::string, StackId> ids_;  // by the frames joined by newlines
  std::unordered_map<EventId, StackId> stack_of_frame_;
  std::unordered_map<std::string_view, StackId> stack_of_text_;
};

}  // namespace telltale
