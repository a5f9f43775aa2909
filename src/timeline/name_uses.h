// Which of a trace's texts are names of events, how many events each names, and what these are.
//
// Made in linear time by several threads; then immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct NameUse {
  std::uint32_t events = 0;
  Kind kind = Kind::kOther;  // of the first of them
};

// By StringId.
std::vector<NameUse> name_uses(const Trace& trace, unsigned threads);

}  // namespace telltale
