// What called an event: the calls around it, and the Python frames among them.
//
// Kineto misses the return of some calls, such as the apply() with which torch.compile enters a graph, and lets them
// last until the recording ends. They contain everything after them, but called little of it: they overlap the calls
// that they were made from. Callers are never such calls, which are passed over.
//
// Functions are pure and thread-safe; a CallStacks serves one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

// A Python call that lasts longer than the call around its start.
bool is_left_open(const Trace& trace, EventId event);

// The innermost event of the same track that contains this one and was not left open, or kNoEvent.
EventId caller_of(const Trace& trace, EventId event);
// The same with at most `looks` at other events, which are taken off it; kNoEvent when they do not suffice.
EventId caller_of(const Trace& trace, EventId event, int& looks);

struct Callers {
  std::vector<EventId> of;         // caller_of each event; of one left open, the event around its start
  std::vector<bool> is_left_open;  // each event
};

// All at once, in time linear in the events as long as calls nest to a bounded depth.
Callers callers(const Trace& trace);

using StackId = std::uint32_t;
inline constexpr StackId kNoStack = 0;

// The Python frames from which events were called, innermost first.
//
// An event that runs where no Python does (autograd's threads) has the stack of the forward operator that it belongs
// to; device work has the stack of its launch, that of a CUDA graph the one at which it was captured. Calls tell where
// their functions are defined: where an operator's own stack tells the lines that were executing, frames have those.
// Equal stacks have equal ids. Remembers what it has looked up; the trace must outlive it.
class CallStacks {
 public:
  // Only the innermost `depth` frames count.
  CallStacks(const Trace& trace, std::size_t depth);

  StackId of(EventId event);
  std::vector<std::string> frames(StackId stack) const;

 private:
  // What the events from one outwards tell; events nest deeply, so that it is found out for all of them at once.
  struct Around {
    EventId frame = kNoEvent;      // the innermost Python call that the event is inside of
    EventId cause = kNoEvent;      // that of the innermost one with a cause, the event itself included
    StringId text = kEmptyString;  // that of the innermost operator with a stack as text, up to the frame
  };
  void look_around();
  StackId stack_around(EventId event);
  StackId stack_of_frame(EventId frame);
  StackId stack_of_text(std::string_view text);
  StackId stack_with_lines(EventId frame, std::string_view text);
  StackId intern(std::vector<std::string_view> frames);

  const Trace& trace_;
  std::size_t depth_;
  std::vector<Around> around_;  // by event; empty until it is asked for
  std::vector<std::vector<std::string_view>> stacks_;
  std::unordered_map<std::string, StackId> ids_;  // by the frames joined by newlines
  std::unordered_map<EventId, StackId> stack_of_frame_;
  std::unordered_map<std::string_view, StackId> stack_of_text_;
  std::map<std::pair<StackId, StackId>, StackId> with_lines_;  // by the stack of calls and that of the text
};

}  // namespace telltale
