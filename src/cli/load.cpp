#include "cli/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "formats/read_trace.h"

namespace telltale::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A line on standard error that appears after a second, on a terminal alone, and goes when the reading is done.
class ProgressLine {
 public:
  void show(double share) {
    const Clock::time_point now = Clock::now();
    if (!is_terminal_ || now - start_ < std::chrono::seconds(1) || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    is_shown_ = true;
    fmt::print(stderr, "\rReading: {:.0f} %", share * 100);
    std::fflush(stderr);
  }
  void clear() {
    if (!is_shown_) return;
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }

 private:
  Clock::time_point start_ = Clock::now(), next_ = start_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  bool is_shown_ = false;
};

}  // namespace

Result<Trace> load(const std::string& path, const GlobalOptions& globals) {
  ProgressLine line;
  ReadOptions options = globals.reading;
  options.progress = [&line](double share) { line.show(share); };
  Result<Trace> trace = read_trace(path, options);
  line.clear();
  return trace;
}

}  // namespace telltale::cli
