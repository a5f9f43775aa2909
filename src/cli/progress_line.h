// A line on standard error that says what is going on while it takes long: after a second, on a terminal alone, and
// gone when the work is done.
#pragma once

#include <chrono>
#include <string_view>

namespace telltale::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // As often as it likes to be called: the line changes ten times a second at most.
  void show(std::string_view text);
  // At once, before work that reports nothing until it is done.
  void show_now(std::string_view text);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now(), next_ = start_;
  bool is_terminal_;
  bool is_shown_ = false;
};

}  // namespace telltale::cli
