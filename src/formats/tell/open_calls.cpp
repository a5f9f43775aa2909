#include "formats/tell/open_calls.h"

#include <algorithm>

namespace telltale::tell {

void OpenCalls::end(std::size_t kept, Nanoseconds time) {
  pass_scopes(time);
  if (kept >= depth_) return;
  std::size_t first = open_.size();
  for (std::size_t left = depth_ - kept; left > 0;)
    if (!open_[--first].is_scope) --left;
  for (std::size_t at = first; at < open_.size(); ++at) {
    const Entry& call = open_[at];
    if (call.is_scope) continue;
    Nanoseconds start = call.start;
    std::size_t slot = call.slot;
    for (std::size_t above = at + 1; above < open_.size(); ++above) {
      const Entry& scope = open_[above];
      if (!scope.is_scope) continue;
      if (call.known_from < scope.start && start < scope.start) {
        write(call, start, scope.start, slot);
        slot = new_slot();
      }
      start = scope.start;
    }
    write(call, start, time, slot);
  }
  const auto is_call = [](const Entry& entry) { return !entry.is_scope; };
  open_.erase(std::remove_if(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end(), is_call), open_.end());
  depth_ = kept;
}

void OpenCalls::begin(StackNumber stack, Nanoseconds time, Nanoseconds known_from) {
  pass_scopes(time);
  const auto frames = stacks_.frames(stack);
  for (; depth_ < frames.size(); ++depth_) {
    Entry& call = open_.emplace_back();
    call.start = time;
    call.known_from = known_from;
    call.frame = frames[depth_];
    call.slot = new_slot();
  }
}

void OpenCalls::spend(StackNumber stack, Nanoseconds time) {
  const auto innermost = std::find_if(open_.rbegin(), open_.rend(), [](const Entry& entry) { return !entry.is_scope; });
  if (innermost == open_.rend()) return;
  for (auto& [known, spent] : innermost->own) {
    if (known != stack) continue;
    spent += time;
    return;
  }
  innermost->own.emplace_back(stack, time);
}

std::vector<MadeCall> OpenCalls::take(Nanoseconds end_time) {
  end(0, end_time);
  return std::move(calls_);
}

// Scopes that begin right now come later: what begins now is rather around them than inside.
void OpenCalls::pass_scopes(Nanoseconds time) {
  for (;;) {
    const auto top = std::find_if(open_.rbegin(), open_.rend(), [](const Entry& entry) { return entry.is_scope; });
    const bool can_end = top != open_.rend() && top->end <= time;
    const bool can_begin = next_scope_ < scopes_.size() && scopes_[next_scope_].begin < time;
    if (can_end && (!can_begin || top->end <= scopes_[next_scope_].begin)) {
      end_scope();
    } else if (can_begin) {
      Entry& scope = open_.emplace_back();
      scope.is_scope = true;
      scope.start = scopes_[next_scope_].begin;
      scope.end = scopes_[next_scope_].end;
      ++next_scope_;
    } else {
      return;
    }
  }
}

// Of the innermost scope: calls that began inside and go on are divided there.
void OpenCalls::end_scope() {
  std::size_t at = open_.size() - 1;
  while (!open_[at].is_scope) --at;
  const Nanoseconds end = open_[at].end;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  for (; at < open_.size(); ++at) {
    Entry& call = open_[at];
    write(call, call.start, end, call.slot);
    call.start = call.known_from = end;
    call.slot = new_slot();
  }
}

void OpenCalls::write(const Entry& call, Nanoseconds start, Nanoseconds end, std::size_t slot) {
  MadeCall& made = calls_[slot];
  made = {start, std::max(start, end), call.frame, kNoFrames};
  const auto most = std::ranges::max_element(call.own, {}, &std::pair<StackNumber, Nanoseconds>::second);
  if (most == call.own.end()) return;
  made.stack = most->first;
  made.frame.line = stacks_.frames(most->first).back().line;
}

std::size_t OpenCalls::new_slot() {
  calls_.emplace_back();
  return calls_.size() - 1;
}

}  // namespace telltale::tell
