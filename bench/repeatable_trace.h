// A real trace cut into the parts that a longer recording of the same program would repeat and those it would
// not.
//
// Nothing is reformatted: a copy is the source's own text, with the digits of times and ids replaced. Ids
// move by the range that the source uses, so that the copies of a kernel and of its launch still find each
// other and nothing else; times move by the span of the source, so that the copies follow one another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::bench {

// Numbers that are counted up together. A flow from host to device is named by its correlation, any other by
// its own.
enum class Numbering : std::uint8_t {
  kTime,
  kCorrelation,
  kExternal,
  kFlow,
  kEventIndex,
  kPython,
  kSequence,
  kRecordFunction,
  kStep,
};
inline constexpr int kNumberingCount = static_cast<int>(Numbering::kStep) + 1;

// Digits in a text that differ from copy to copy.
struct MovingNumber {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::int64_t value = 0;  // of times: whole microseconds, the fraction stays as it is
  Numbering numbering = Numbering::kTime;
};

struct MovingText {
  std::string text;
  std::vector<MovingNumber> numbers;  // by offset
};

struct RepeatableTrace {
  std::string header;     // up to the first event
  MovingText repeated;    // what the program did
  MovingText once;        // metadata and the recording's own span
  std::string footer;     // from behind the last event
  std::string separator;  // between two events
  std::size_t repeated_events = 0;
  std::size_t once_events = 0;
  std::array<std::int64_t, kNumberingCount> stride{};  // from one copy to the next
};

// `text` is an object with a "traceEvents" list of at least two events. Throws simdjson::simdjson_error
// if it is not.
RepeatableTrace repeatable_trace(std::string_view text);

// Appends copy number `copy` (0 is the source itself) to `out`.
void append_copy(const MovingText& source, const RepeatableTrace& trace, std::int64_t copy, std::string& out);

}  // namespace telltale::bench
