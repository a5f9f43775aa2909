#include "trace/stack_frame.h"

#include <charconv>

namespace telltale {

std::optional<StackFrame> split_frame(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\n')) text.remove_prefix(1);
  const std::size_t close = text.rfind("): ");
  const std::size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  StackFrame frame{text.substr(0, open), text.substr(close + 3)};
  const char* const digits_end = text.data() + close;
  const auto [end, error] = std::from_chars(text.data() + open + 1, digits_end, frame.line);
  if (error != std::errc{} || end != digits_end || frame.line < 0) return std::nullopt;
  return frame;
}

}  // namespace telltale
