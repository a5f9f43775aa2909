#include "advise/copy_operators.h"

#include <algorithm>
#include <array>

namespace telltale {
namespace {

constexpr auto kCopying = std::to_array<std::string_view>(
    {"aten::to", "aten::_to_copy", "aten::copy_", "aten::_copy_from", "aten::cuda", "aten::cpu"});
constexpr auto kCopyingMethods = std::to_array<std::string_view>({"to of ", "copy_ of ", "cuda of ", "cpu of "});

// "<built-in method to of Tensor object at 0x7f57b78b7c50>"
bool is_copying_method(std::string_view frame) {
  constexpr std::string_view kPrefix = "<built-in method ";
  if (!frame.starts_with(kPrefix)) return false;
  frame.remove_prefix(kPrefix.size());
  return std::ranges::any_of(kCopyingMethods, [&](std::string_view method) { return frame.starts_with(method); });
}

bool only_copies(const Trace& trace, EventId event) {
  const std::string_view name = trace.name(event);
  if (trace.events.kind[event] == Kind::kPython) return is_copying_method(name);
  return trace.events.kind[event] == Kind::kOperator && std::ranges::find(kCopying, name) != kCopying.end();
}

}  // namespace

EventId copying_call(const Trace& trace, EventId launch) {
  EventId call = launch;
  for (EventId at = trace.events.parent[launch]; at != kNoEvent && only_copies(trace, at); at = trace.events.parent[at])
    call = at;
  return call;
}

}  // namespace telltale
