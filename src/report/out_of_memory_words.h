// What a recording says of memory that ran out, in words: for whoever has just read the traceback.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "advise/memory_report.h"
#include "memory/memory_what_if.h"
#include "trace/trace.h"

namespace telltale {

// "memory ran out on GPU 0: 2.00 GiB were asked for at model.py:12 in Block_3, and the device had 512 MiB free"; empty
// when it did not. Where it ran out more than once, the last time counts.
std::string out_of_memory_text(const Trace& trace);

// The findings that are named: the first that save memory.
inline constexpr std::size_t kMostNamedFindings = 2;

// What memory would be with the fixes of some of them: "the first fix", "both fixes".
struct TriedFixes {
  std::string words;
  MemoryWhatIf what_if;  // with the memory that there is as its capacity
};

// "with the first fix, it gets past that request: 61.0 GiB of 80.0 GiB"
std::string verdict_words(const TriedFixes& tried);

// What held the memory, what would free most, and whether that request fits then: a sentence each, without its full
// stop.
std::vector<std::string> out_of_memory_diagnosis(const MemoryReport& report, const std::optional<TriedFixes>& tried);

}  // namespace telltale
