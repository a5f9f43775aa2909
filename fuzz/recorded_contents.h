// What is in a file that session_calls.cpp had recorded, in the words of the model.
#pragma once

#include <cstdint>
#include <string>

#include "session_model.h"

namespace telltale::fuzzing {

struct RecordedContents {
  FileContents contents;
  std::uint64_t dropped = 0;   // as the file says
  std::uint64_t repeated = 0;  // records that are there twice, which none may be
};

// The names that are given to what is recorded.
inline constexpr const char* kMarkName = "mark";
inline constexpr const char* kScopeName = "scope";
inline constexpr const char* kCounterName = "count";

RecordedContents recorded_contents(const std::string& path);

}  // namespace telltale::fuzzing
