#include "timeline/event_stack.h"

#include <algorithm>
#include <string_view>

#include "trace/stack_frame.h"

namespace telltale {
namespace {

constexpr int kMostForwardSteps = 4;  // as CallStacks
constexpr int kMostCallers = 100'000;

using Frames = std::vector<std::string_view>;

bool is_frame(Kind kind) { return kind == Kind::kPython || kind == Kind::kModule; }

// What the events around one, itself included, tell.
struct Around {
  EventId frame = kNoEvent;  // the innermost Python call that it is inside of
  EventId cause = kNoEvent;  // of the innermost event with one
  std::string_view text;     // the stack that the innermost operator within the frame has as text
};

Around around(const Trace& trace, EventId event) {
  const Events& events = trace.events;
  Around found;
  int looks = kMostCallers;
  for (EventId at = event; at != kNoEvent && looks-- > 0; at = events.parent[at]) {
    if (at != event && found.frame == kNoEvent && is_frame(events.kind[at])) found.frame = at;
    if (found.cause == kNoEvent) found.cause = events.cause[at];
    if (found.frame != kNoEvent || !found.text.empty() || is_frame(events.kind[at])) continue;
    if (const OperatorStack* stack = trace.operator_stacks.find(at)) found.text = trace.strings[stack->call_stack];
  }
  return found;
}

Frames frames_in(std::string_view text, std::size_t depth) {
  Frames frames;
  for (std::size_t start = 0; start < text.size() && frames.size() < depth;) {
    const std::size_t end = std::min(text.find(';', start), text.size());
    if (end > start) frames.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return frames;
}

Frames frames_from(const Trace& trace, EventId frame, std::size_t depth) {
  Frames frames;
  int looks = kMostCallers;
  for (EventId at = frame; at != kNoEvent && frames.size() < depth && looks-- > 0; at = trace.events.parent[at])
    if (is_frame(trace.events.kind[at])) frames.push_back(trace.name(at));
  return frames;
}

bool are_of_one_function(std::string_view a, std::string_view b) {
  const auto first = split_frame(a), second = split_frame(b);
  return first && second && first->file == second->file && first->function == second->function;
}

// Calls tell where functions are defined, lines where they were executing.
Frames with_lines(Frames calls, const Frames& lines) {
  auto next = lines.begin();
  for (std::string_view& call : calls) {
    const auto line = std::find_if(next, lines.end(), [&](auto each) { return are_of_one_function(call, each); });
    if (line == lines.end()) continue;
    call = *line;
    next = line + 1;
  }
  return calls;
}

Frames stack_around(const Trace& trace, EventId event, std::size_t depth) {
  for (int step = 0; step < kMostForwardSteps && event != kNoEvent; ++step) {
    const Around found = around(trace, event);
    if (found.frame != kNoEvent && !trace.recorded.sampled)
      return with_lines(frames_from(trace, found.frame, depth), frames_in(found.text, depth));
    if (!found.text.empty()) return frames_in(found.text, depth);
    if (found.frame != kNoEvent) return frames_from(trace, found.frame, depth);
    event = found.cause;  // the forward operator
  }
  return {};
}

Frames stack_of(const Trace& trace, EventId event, std::size_t depth) {
  if (!is_on_device(trace.events.kind[event])) return stack_around(trace, event, depth);
  if (const GraphOrigin* origin = trace.graph_origins.find(event)) {
    if (Frames captured = stack_around(trace, origin->captured_in, depth); !captured.empty()) return captured;
    if (origin->call_stack != kEmptyString) return frames_in(trace.strings[origin->call_stack], depth);
  }
  return stack_around(trace, trace.events.cause[event], depth);
}

}  // namespace

std::vector<std::string> event_stack(const Trace& trace, EventId event, std::size_t depth) {
  const Frames frames = stack_of(trace, event, depth);
  return {frames.begin(), frames.end()};
}

}  // namespace telltale
