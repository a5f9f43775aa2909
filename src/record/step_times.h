// What steps took that ran while nothing was recorded, for the files that are recorded around them.
//
// The session's own, under its mutex. The text is made before the writer's thread starts and, where a file is written
// at the end, while the writer waits to be told of that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::record {

class StepTimes {
 public:
  void clear();
  // The newest kMost are kept.
  void add(std::int64_t number, std::int64_t took_ns);
  // How many have a number of at least `first`.
  std::size_t count_from(std::int64_t first) const;
  // Makes the text of a file that begins with this step.
  void describe_for(std::int64_t first_recorded);

  // JSON, as src/trace/unrecorded_steps.h describes it; empty when there is none.
  const char* text() const { return text_; }

  static constexpr std::size_t kTextBytes = 4000;  // a value of a session may have no more

 private:
  static constexpr std::size_t kMost = 64;

  struct StepTime {
    std::int64_t number, took_ns;
  };

  StepTime times_[kMost] = {};
  std::size_t count_ = 0;
  char text_[kTextBytes] = {};
};

extern StepTimes unrecorded_steps;

}  // namespace telltale::record
