#include "record/step_times.h"

#include <cstdio>
#include <cstring>

namespace telltale::record {

constinit StepTimes unrecorded_steps;

namespace {

constexpr std::size_t kLongestStretch = 80;  // of the text of a stretch that has a single step

}  // namespace

void StepTimes::clear() {
  count_ = 0;
  text_[0] = '\0';
}

void StepTimes::add(std::int64_t number, std::int64_t took_ns) {
  if (count_ == kMost) std::memmove(times_, times_ + 1, --count_ * sizeof times_[0]);
  times_[count_++] = {number, took_ns};
}

std::size_t StepTimes::count_from(std::int64_t first) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < count_; ++i) count += times_[i].number >= first ? 1 : 0;
  return count;
}

void StepTimes::describe_for(std::int64_t first_recorded) {
  text_[0] = '\0';
  std::size_t size = 0;
  const auto put = [&](const char* format, auto... values) {
    size += static_cast<std::size_t>(snprintf(text_ + size, kTextBytes - size, format, values...));
  };
  for (std::size_t i = 0; i < count_ && size + kLongestStretch < kTextBytes; ++i) {
    const StepTime& time = times_[i];
    const bool follows = i > 0 && time.number == times_[i - 1].number + 1;
    if (follows)
      put(",%lld", static_cast<long long>(time.took_ns));
    else
      put("%s{\"when\":\"%s\",\"first\":%lld,\"took_ns\":[%lld", i == 0 ? "[" : "]},",
          time.number < first_recorded ? "before" : "after", static_cast<long long>(time.number),
          static_cast<long long>(time.took_ns));
  }
  if (size > 0) put("]}]");
}

}  // namespace telltale::record
