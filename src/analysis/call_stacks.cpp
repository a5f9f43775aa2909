#include "analysis/call_stacks.h"

#include <algorithm>
#include <limits>

#include "trace/side_table.h"
#include "trace/stack_frame.h"

namespace telltale {
namespace {

// The row before, on the same track.
EventId row_before(const Trace& trace, EventId event) {
  return event == trace.tracks[trace.events.track[event]].first_event ? kNoEvent : event - 1;
}

}  // namespace

bool is_left_open(const Trace& trace, EventId event) {
  return trace.events.kind[event] == Kind::kPython && !trace.lanes.empty() && trace.lanes.find(event) != nullptr;
}

// Whatever contains the event was open when the row after it began, so the rows before a call that was left open lead
// to it.
EventId caller_of(const Trace& trace, EventId event, int& looks) {
  EventId at = trace.events.parent[event];
  while (at != kNoEvent) {
    if (looks-- <= 0) return kNoEvent;
    if (trace.events.end(at) < trace.events.end(event))
      at = trace.events.parent[at];
    else if (is_left_open(trace, at))
      at = row_before(trace, at);
    else
      break;
  }
  return at;
}

EventId caller_of(const Trace& trace, EventId event) {
  int looks = std::numeric_limits<int>::max();
  return caller_of(trace, event, looks);
}

Callers callers(const Trace& trace) {
  const Events& events = trace.events;
  Callers result{events.parent, std::vector<bool>(events.size())};
  bool has_any = false;
  for (std::size_t row = 0; row < trace.lanes.size(); ++row) {
    const EventId event = trace.lanes.event(row);
    if (events.kind[event] != Kind::kPython) continue;
    result.is_left_open[event] = true;
    has_any = true;
  }
  if (!has_any) return result;

  for (EventId event = 0; event < events.size(); ++event) {
    const bool is_open = result.is_left_open[event];
    EventId at = is_open ? row_before(trace, event) : events.parent[event];
    if (at == kNoEvent || (!is_open && !result.is_left_open[at])) continue;
    if (!is_open) at = row_before(trace, at);
    const Nanoseconds until = is_open ? events.start[event] + 1 : events.end(event);
    while (at != kNoEvent && (result.is_left_open[at] || events.end(at) < until)) at = result.of[at];
    result.of[event] = at;
  }
  return result;
}

namespace {

bool is_frame(Kind kind) { return kind == Kind::kPython || kind == Kind::kModule; }

bool are_of_one_function(std::string_view a, std::string_view b) {
  const auto first = split_frame(a), second = split_frame(b);
  return first && second && first->file == second->file && first->function == second->function;
}

// A backward operator leads to its forward one; that of a double backward pass needs one step more.
constexpr int kMaxForwardSteps = 4;

}  // namespace

CallStacks::CallStacks(const Trace& trace, std::size_t depth) : trace_(trace), depth_(depth), stacks_(1) {}

StackId CallStacks::of(EventId event) {
  if (!is_on_device(trace_.events.kind[event])) return stack_around(event);
  const GraphOrigin* const origin = trace_.graph_origins.empty() ? nullptr : trace_.graph_origins.find(event);
  if (origin != nullptr) {
    const StackId captured = stack_around(origin->captured_in);
    if (captured != kNoStack) return captured;
    if (origin->call_stack != kEmptyString) return stack_of_text(trace_.strings[origin->call_stack]);
  }
  return stack_around(trace_.events.cause[event]);
}

StackId CallStacks::stack_around(EventId event) {
  if (event == kNoEvent) return kNoStack;
  if (around_.empty()) look_around();
  for (int step = 0; step < kMaxForwardSteps && event != kNoEvent; ++step) {
    const Around& around = around_[event];
    const std::string_view recorded = trace_.strings[around.text];
    if (around.frame != kNoEvent && !trace_.recorded.sampled) return stack_with_lines(around.frame, recorded);
    if (!recorded.empty()) return stack_of_text(recorded);
    if (around.frame != kNoEvent) return stack_of_frame(around.frame);
    event = around.cause;  // the forward operator
  }
  return kNoStack;
}

// Recorders without Python events write the stack as text into the operator. Where calls were made of such texts, these
// have the lines that the calls do not tell.
void CallStacks::look_around() {
  const Events& events = trace_.events;
  around_.resize(events.size());
  SideTableWalk<OperatorStack> stacks(trace_.operator_stacks);
  for (EventId event = 0; event < events.size(); ++event) {
    Around& here = around_[event];
    const EventId parent = events.parent[event];
    if (parent != kNoEvent) here = around_[parent];
    if (parent != kNoEvent && is_frame(events.kind[parent])) {
      here.frame = parent;
      here.text = kEmptyString;
    }
    if (events.cause[event] != kNoEvent) here.cause = events.cause[event];
    const OperatorStack* const stack = is_frame(events.kind[event]) ? nullptr : stacks.find(event);
    if (stack != nullptr && stack->call_stack != kEmptyString) here.text = stack->call_stack;
  }
}

std::vector<std::string> CallStacks::frames(StackId stack) const {
  return {stacks_[stack].begin(), stacks_[stack].end()};
}

StackId CallStacks::stack_of_frame(EventId frame) {
  const auto known = stack_of_frame_.find(frame);
  if (known != stack_of_frame_.end()) return known->second;
  std::vector<std::string_view> frames;
  for (EventId at = frame; at != kNoEvent && frames.size() < depth_; at = around_[at].frame) {
    frames.push_back(trace_.name(at));
  }
  return stack_of_frame_[frame] = intern(std::move(frames));
}

// The text leaves frames of libraries out, and has those of built-in functions not at all: what it has are the calls in
// the same order.
StackId CallStacks::stack_with_lines(EventId frame, std::string_view text) {
  const StackId calls = stack_of_frame(frame), lines = stack_of_text(text);
  if (lines == kNoStack) return calls;
  const auto [known, is_new] = with_lines_.try_emplace({calls, lines}, calls);
  if (!is_new) return known->second;
  std::vector<std::string_view> merged = stacks_[calls];
  const std::vector<std::string_view>& told = stacks_[lines];
  std::size_t next = 0;
  for (std::string_view& call : merged) {
    const auto found = std::find_if(told.begin() + static_cast<std::ptrdiff_t>(next), told.end(),
                                    [&](std::string_view line) { return are_of_one_function(call, line); });
    if (found == told.end()) continue;
    call = *found;
    next = static_cast<std::size_t>(found - told.begin()) + 1;
  }
  return known->second = intern(std::move(merged));
}

StackId CallStacks::stack_of_text(std::string_view text) {
  const auto known = stack_of_text_.find(text);
  if (known != stack_of_text_.end()) return known->second;
  std::vector<std::string_view> frames;
  for (std::size_t start = 0; start < text.size() && frames.size() < depth_;) {
    const std::size_t end = std::min(text.find(';', start), text.size());
    if (end > start) frames.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return stack_of_text_[text] = intern(std::move(frames));
}

StackId CallStacks::intern(std::vector<std::string_view> frames) {
  if (frames.empty()) return kNoStack;
  std::string key;
  for (const std::string_view frame : frames) key.append(frame) += '\n';
  const auto [at, is_new] = ids_.try_emplace(std::move(key), static_cast<StackId>(stacks_.size()));
  if (is_new) stacks_.push_back(std::move(frames));
  return at->second;
}

}  // namespace telltale
