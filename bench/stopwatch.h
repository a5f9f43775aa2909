// Seconds of wall-clock time, and how the bench programs print them.
#pragma once

#include <chrono>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale::bench {

class Stopwatch {
 public:
  // Seconds since the last call, or since the start.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// "name":[0.5,0.4]
inline void print_seconds(std::ostream& out, std::string_view name, const std::vector<double>& seconds) {
  out << '"' << name << "\":[";
  for (std::size_t i = 0; i < seconds.size(); ++i) out << (i ? "," : "") << seconds[i];
  out << ']';
}

}  // namespace telltale::bench
