#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace telltale::cli {

ProgressLine::ProgressLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(std::string_view text) {
  if (Clock::now() >= next_) show_now(text);
}

void ProgressLine::show_now(std::string_view text) {
  const Clock::time_point now = Clock::now();
  if (!is_terminal_ || now - start_ < std::chrono::seconds(1)) return;
  next_ = now + std::chrono::milliseconds(100);
  is_shown_ = true;
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!is_shown_) return;
  is_shown_ = false;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace telltale::cli
